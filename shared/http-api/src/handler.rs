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
        if path[at] == b'{' && path[at + name.len() + 1] == b'}' {
            let mut same = 0;
            while same < name.len() && path[at + 1 + same] == name[same] {
                same += 1;
            }
            if same == name.len() {
                return true;
            }
        }
        at += 1;
    }
    false
}
