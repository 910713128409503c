//! The list of functions, for Lambda and for a laptop.

pub(crate) mod in_process;
mod programs;

pub use in_process::{Consumer, Function, Invoke};
pub use programs::Program;

/// The name of the function in this module: `get-order` of `get_order`.
fn name_of(module: &str) -> String {
    module.replace('_', "-")
}

/// Declares the module of each function, and lists the function twice: for Lambda ([`Program`]), and for a process that
/// runs all functions ([`ROUTES`](crate::ROUTES), [`CONSUMERS`](crate::CONSUMERS)). The lists are separate, so that a
/// program for Lambda contains its own functions and nothing that only a laptop needs.
macro_rules! functions {
    (reads { $($read:ident)+ } writes { $($write:ident)+ } consumers { $($consumer:ident)+ }) => {
        $(pub mod $read;)+
        $(pub mod $write;)+
        $(pub mod $consumer;)+

        impl $crate::Program {
            /// The functions that answer a route and only read.
            pub const READS: Self = Self {
                name: "reads",
                functions: &[
                    $((stringify!($read), || http_api::serve($crate::registry::route!($read), $read::handle))),+
                ],
            };
            /// The functions that answer a route and write.
            pub const WRITES: Self = Self {
                name: "writes",
                functions: &[
                    $((stringify!($write), || http_api::serve($crate::registry::route!($write), $write::handle))),+
                ],
            };
            /// The functions that consume events.
            pub const CONSUMERS: Self = Self {
                name: "consumers",
                functions: &[$((stringify!($consumer), || lambda::consume($consumer::handle))),+],
            };
        }

        /// Every function that answers a route.
        pub const ROUTES: &[$crate::Function] = &[
            $($crate::registry::function!($read reads)),+,
            $($crate::registry::function!($write writes)),+
        ];

        /// Every function that consumes events.
        pub const CONSUMERS: &[$crate::Consumer] = &[
            $($crate::Consumer {
                module: stringify!($consumer),
                access: $consumer::ACCESS,
                grants: $consumer::GRANTS,
                start: |environment, timeout| {
                    $crate::registry::in_process::consume($consumer::handle, environment, timeout)
                },
            }),+
        ];
    };
}

macro_rules! function {
    ($function:ident $program:ident) => {
        $crate::Function {
            module: stringify!($function),
            program: stringify!($program),
            route: $crate::registry::route!($function),
            describe: || http_api::describe($crate::registry::route!($function), $function::handle),
            start: |environment, timeout| {
                let route = $crate::registry::route!($function);
                $crate::registry::in_process::start(route, $function::handle, environment, timeout)
            },
        }
    };
}

/// The declaration of a route, checked against the arguments of its handler.
macro_rules! route {
    ($function:ident) => {
        const {
            http_api::fits(&$function::ROUTE, &$function::handle);
            &$function::ROUTE
        }
    };
}

pub(crate) use {function, functions, route};
