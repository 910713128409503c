//! The guests of every world.

/// A guest, by id and secret.
pub struct GuestOfWorld {
    pub id: &'static str,
    pub secret: &'static str,
}

/// The guest of every world who has no order yet.
pub const NEW_GUEST: GuestOfWorld = GuestOfWorld {
    id: "guest-L5AXsVnz6wQ4AMsv_65rDPcBQjti3OcBDY6kbCgI26M",
    secret: "c2VjcmV0LW9mLWEtZ3Vlc3Qtb2YtdGhlLXNob3AuLi4",
};

/// The guest of every world who has a pending order, and a delivered one.
pub const GUEST: GuestOfWorld = GuestOfWorld {
    id: "guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og",
    secret: "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A",
};

/// The guest of every world whose only order, to an address, is cancelled.
pub const FINISHED_GUEST: GuestOfWorld = GuestOfWorld {
    id: "guest-IryeGmhNFLqshqXXYTqFOT2cJZNRTa12-p2X0ylvTSI",
    secret: "dGhlIHRoaXJkIGd1ZXN0IG9mIGV2ZXJ5IHdvcmxkLi4",
};
