//! What becomes of the list of functions.

pub(crate) mod in_process;
mod programs;

pub use in_process::{Consumer, Function, Invoke};
pub use programs::Program;

/// The name of the function in this module: `get-order` of `get_order`.
fn name_of(module: &str) -> String {
    module.replace('_', "-")
}

/// Declares the module of each function, and lists it once for Lambda ([`Program`]) and once for a process that runs them
/// all ([`ROUTES`](crate::ROUTES), [`CONSUMERS`](crate::CONSUMERS)). Apart, so that a program for Lambda holds its own
/// functions and nothing of what a laptop needs.
macro_rules! functions {
    (reads { $($read:ident)+ } writes { $($write:ident)+ } consumers { $($consumer:ident)+ }) => {
        $(pub mod $read;)+
        $(pub mod $write;)+
        $(pub mod $consumer;)+

        impl $crate::Program {
            /// What answers a route, and only reads.
            pub const READS: Self = Self {
                name: "reads",
                functions: &[$((stringify!($read), || http_api::serve(&$read::ROUTE, $read::handle))),+],
            };
            /// What answers a route, and writes.
            pub const WRITES: Self = Self {
                name: "writes",
                functions: &[$((stringify!($write), || http_api::serve(&$write::ROUTE, $write::handle))),+],
            };
            /// What consumes events.
            pub const CONSUMERS: Self = Self {
                name: "consumers",
                functions: &[$((stringify!($consumer), || lambda::consume($consumer::handle))),+],
            };
        }

        /// Every function that answers a route.
        pub const ROUTES: &[$crate::Function] = &[
            $($crate::registry::function!($read)),+,
            $($crate::registry::function!($write)),+
        ];

        /// Every function that consumes events.
        pub const CONSUMERS: &[$crate::Consumer] = &[
            $($crate::Consumer::new(stringify!($consumer), |environment, timeout| {
                $crate::registry::in_process::consume($consumer::handle, environment, timeout)
            })),+
        ];
    };
}

macro_rules! function {
    ($function:ident) => {
        $crate::Function::new(stringify!($function), $function::ROUTE, $function::describe, |environment, timeout| {
            $crate::registry::in_process::start($function::ROUTE, $function::handle, environment, timeout)
        })
    };
}

pub(crate) use {function, functions};
