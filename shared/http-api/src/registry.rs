//! The list of a program's functions.

use lambda::Function;

use crate::{Description, Route};

/// A function that answers a route.
pub struct RouteFunction {
    /// Its name, and how to start it.
    pub function: Function,
    /// The declaration of its route.
    pub route: &'static Route,
    /// The description of its route.
    pub describe: fn() -> Description,
}

/// Declares the module of each function, and lists the functions twice: for Lambda (`PROGRAM`), and for a process that
/// starts all of them (`ROUTES`). The lists are separate, so that the program for Lambda contains nothing that only a
/// laptop needs.
///
/// The handler of each route is checked against the route's path ([`fits`](crate::fits)).
#[macro_export]
macro_rules! routes {
    ($($function:ident)+) => {
        $(pub mod $function;)+

        /// The program that Lambda runs.
        pub const PROGRAM: $crate::Program = $crate::Program::new(&[
            $((stringify!($function), || $crate::serve($crate::routes!(@route $function), $function::handle))),+
        ]);

        /// The functions, for a process that starts them beside others.
        pub const ROUTES: &[$crate::RouteFunction] = &[$($crate::RouteFunction {
            function: $crate::Function::new(
                env!("CARGO_PKG_NAME"),
                stringify!($function),
                |environment, timeout| {
                    $crate::start($crate::routes!(@route $function), $function::handle, environment, timeout)
                },
            ),
            route: $crate::routes!(@route $function),
            describe: || $crate::describe($crate::routes!(@route $function), $function::handle),
        }),+];
    };
    (@route $function:ident) => {
        const {
            $crate::fits(&$function::ROUTE, &$function::handle);
            &$function::ROUTE
        }
    };
}
