//! The laptop stack.
