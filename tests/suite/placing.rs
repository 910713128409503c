//! placing
