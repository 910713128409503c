//! Handlers: async functions whose arguments are the function's dependencies and the parts of the request.

use std::future::Future;

use lambda::FromEnvironment;

use crate::{Answer, Description, FromRequest, Problem, Request, Respond, Route};

/// An async function that answers a route, such as
/// `async fn handle(table: Reader, Path(id): Path<ProductId>) -> Answer<Json<ProductView>>`.
///
/// `Deps` is its first argument, the function's dependencies. `Parts` is the tuple of its other arguments, up to six
/// parts of the request.
pub trait Handler<Deps, Parts>: Copy + Send + Sync + 'static {
    /// For each part, the path parameter from which it is read, if there is one.
    const PATH_PARAMETERS: &'static [Option<&'static str>];

    /// Reads the parts of the request in the order of the arguments, and calls the handler with them. The first invalid
    /// part decides the problem.
    fn call(self, deps: Deps, request: &Request) -> impl Future<Output = Answer> + Send;

    /// Adds the parts and the success to the route's description.
    fn describe(description: Description) -> Description;
}

macro_rules! handlers {
    ($(($($part:ident)*))+) => {$(
        impl<F, Deps, $($part,)* Answered, R> Handler<Deps, ($($part,)*)> for F
        where
            F: Fn(Deps, $($part),*) -> Answered + Copy + Send + Sync + 'static,
            Deps: FromEnvironment + Clone + Send + Sync + 'static,
            $($part: FromRequest + Send,)*
            Answered: Future<Output = Result<R, Problem>> + Send,
            R: Respond,
        {
            const PATH_PARAMETERS: &'static [Option<&'static str>] = &[$($part::PATH_PARAMETER),*];

            #[allow(unused_variables, reason = "a handler may take no part of the request")]
            async fn call(self, deps: Deps, request: &Request) -> Answer {
                self(deps, $($part::from_request(request)?),*).await?.respond()
            }

            fn describe(description: Description) -> Description {
                $(let description = $part::describe(description);)*
                R::describe(description)
            }
        }
    )+};
}

// No part is called `F`, because that is the type of the handler.
handlers! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E G) }

/// Checks that the handler takes every parameter of the route's path, and no other.
///
/// # Panics
/// If the parameters differ. The registry of functions calls this in a constant, so a difference does not compile.
pub const fn fits<Deps, Parts, H: Handler<Deps, Parts>>(route: &Route, _: &H) {
    // A `const fn` has neither `for` loops nor comparison of strings.
    let (mut at, mut taken) = (0, 0);
    while at < H::PATH_PARAMETERS.len() {
        if let Some(name) = H::PATH_PARAMETERS[at] {
            assert!(has(route.path.as_bytes(), name.as_bytes()), "an argument is not a parameter of the route's path");
            let mut other = at + 1;
            while other < H::PATH_PARAMETERS.len() {
                if let Some(again) = H::PATH_PARAMETERS[other] {
                    assert!(!is_same(name.as_bytes(), again.as_bytes()), "two arguments are the same parameter");
                }
                other += 1;
            }
            taken += 1;
        }
        at += 1;
    }
    let (path, mut at, mut declared) = (route.path.as_bytes(), 0, 0);
    while at < path.len() {
        if path[at] == b'{' {
            declared += 1;
        }
        at += 1;
    }
    assert!(declared == taken, "the handler has no argument for a parameter of the route's path");
}

/// Whether the path contains `{name}`.
const fn has(path: &[u8], name: &[u8]) -> bool {
    let mut at = 0;
    while at + name.len() + 2 <= path.len() {
        let (_, from_here) = path.split_at(at);
        let (here, _) = from_here.split_at(name.len() + 2);
        let (_, inner) = here.split_at(1);
        let (inner, _) = inner.split_at(name.len());
        if here[0] == b'{' && here[name.len() + 1] == b'}' && is_same(inner, name) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    use key_schema::value::{InvoiceId, OrderId};
    use lambda::{Environment, Misconfigured};

    use super::*;
    use crate::{Path, Scope};

    #[derive(Clone)]
    struct Nothing;

    impl FromEnvironment for Nothing {
        fn from_environment(_: &Environment) -> Result<Self, Misconfigured> {
            Ok(Self)
        }
    }

    async fn of_order(_: Nothing, _: Path<OrderId>) -> Answer<()> {
        Ok(())
    }

    async fn of_order_and_invoice(_: Nothing, _: Path<OrderId>, _: Path<InvoiceId>) -> Answer<()> {
        Ok(())
    }

    async fn of_order_twice(_: Nothing, _: Path<OrderId>, _: Path<OrderId>) -> Answer<()> {
        Ok(())
    }

    const ONE: Route = Route::get("/orders/{orderId}/flag", Scope::Shop);
    const BOTH: Route = Route::get("/orders/{orderId}/invoices/{invoiceId}", Scope::Shop);

    #[test]
    fn a_handler_takes_each_parameter_of_its_path() {
        fits(&ONE, &of_order);
        fits(&BOTH, &of_order_and_invoice);
    }

    #[test]
    #[should_panic(expected = "an argument is not a parameter of the route's path")]
    fn an_argument_that_is_no_parameter_does_not_fit() {
        fits(&ONE, &of_order_and_invoice);
    }

    #[test]
    #[should_panic(expected = "an argument is not a parameter of the route's path")]
    fn a_parameter_with_a_longer_name_is_another_one() {
        fits(&Route::get("/orders/{orderIds}", Scope::Shop), &of_order);
    }

    #[test]
    #[should_panic(expected = "the handler has no argument for a parameter of the route's path")]
    fn a_parameter_without_an_argument_does_not_fit() {
        fits(&BOTH, &of_order);
    }

    #[test]
    #[should_panic(expected = "two arguments are the same parameter")]
    fn two_arguments_of_one_parameter_do_not_fit() {
        fits(&BOTH, &of_order_twice);
    }
}
