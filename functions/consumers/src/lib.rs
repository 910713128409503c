//! The functions that consume events: of the queue, of the table's stream, and of schedules.
//!
//! A macro declares the modules, so `cargo fmt` does not find their files. Run `rustfmt` on a file that you change.

use key_schema::access::Access;
use lambda::{Function, Grant, Program};

/// A function that consumes events.
pub struct Consumer {
    /// Its name, and how to start it.
    pub function: Function,
    /// The function's access to the table.
    pub access: &'static [&'static [Access]],
    /// The function's permissions on other services.
    pub grants: &'static [Grant],
    /// The condition of `template.yaml` under which a deployment has the function; `None` if each has it.
    pub condition: Option<&'static str>,
}

mod product_messages;

/// Declares the module of each function, and lists the functions twice, as `http_api::routes!` does.
macro_rules! consumers {
    ($($condition:expr => { $($function:ident)+ })+) => {
        $($(pub mod $function;)+)+

        /// The program that Lambda runs.
        pub const PROGRAM: Program = Program::new(&[
            $($((stringify!($function), || lambda::consume($function::handle)),)+)+
        ]);

        /// The functions, for a process that starts them beside others.
        pub const CONSUMERS: &[Consumer] = &[$($(Consumer {
            function: Function::new(env!("CARGO_PKG_NAME"), stringify!($function), |environment, timeout| {
                lambda::start_consumer($function::handle, environment, timeout)
            }),
            access: $function::ACCESS,
            grants: $function::GRANTS,
            condition: $condition,
        },)+)+];
    };
}

consumers! {
    None => {
        count_orders
        drain_writes
        expire_orders
        mark_availability
        number_invoices
        publish_order_events
        reconcile_counts
        settle_payments
        tidy_images
    }
    Some("HasSearch") => {
        index_products
    }
    Some("IsMigrating") => {
        copy_items
        repair_copies
    }
}
