//! The parts of a request that names several resources. Each part succeeds or fails by itself, so the request succeeds,
//! and its body has the result of each part.

use std::future::Future;

use http::StatusCode;
use key_schema::value::ProductId;
use lambda::Outcome;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::{Ref, RefOr, Schema};

use crate::audit::AuditedProduct;
use crate::{Answer, Description, Problem, Reply, Respond};

/// The result of one part.
#[derive(Debug)]
pub struct Part {
    status: StatusCode,
    version: Option<u64>,
    problem: Option<Problem>,
}

impl Part {
    /// Does the work of one part. Its status is that of a request with this part alone, and its problem says whether this
    /// part may have written something.
    pub async fn of<R: Respond>(work: impl Future<Output = Answer<R>>) -> Self {
        let (answer, outcome) = Outcome::of_part(work).await;
        match answer.and_then(Respond::respond) {
            Ok(reply) => Self { status: reply.status(), version: reply.version(), problem: None },
            Err(problem) => Self::refused(problem.with_outcome(outcome)),
        }
    }

    /// A part with this problem.
    pub fn refused(problem: Problem) -> Self {
        Self { status: problem.kind().status(), version: None, problem: Some(problem) }
    }
}

/// 200 with the results of parts that each write one product, in the request's order.
#[derive(Debug)]
pub struct ProductResults(pub Vec<(ProductId, Part)>);

/// The results of the entries of a batch, in the order of the entries.
#[derive(Serialize, ToSchema)]
#[schema(as = ProductResults)]
struct ProductResultsView {
    results: Vec<ProductResultView>,
}

/// The result of one entry of a batch: either its version or its problem.
#[serde_with::skip_serializing_none]
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductResult)]
struct ProductResultView {
    product_id: ProductId,
    /// The status that a request with this entry alone would have: 201 if the product was created, 200 if it was changed,
    /// otherwise that of the problem. A repetition has the same status.
    status: u16,
    /// The product's version, also its `ETag`.
    version: Option<u64>,
    #[schema(schema_with = problem_reference)]
    problem: Option<Value>,
}

fn problem_reference() -> RefOr<Schema> {
    Ref::from_schema_name("Problem").into()
}

impl Respond for ProductResults {
    fn respond(self) -> Answer {
        let mut failures = Vec::new();
        let mut results = Vec::with_capacity(self.0.len());
        let mut audited = Vec::with_capacity(self.0.len());
        for (product_id, Part { status, version, problem }) in self.0 {
            let document = problem.as_ref().map(|problem| serde_json::to_value(problem.document())).transpose();
            let document = document.map_err(Problem::internal)?;
            audited.push(AuditedProduct { product_id: product_id.clone(), status: status.as_u16(), version });
            results.push(ProductResultView { product_id, status: status.as_u16(), version, problem: document });
            failures.extend(problem);
        }
        Ok(Reply::ok(&ProductResultsView { results })?.with_failures(failures).with_products(audited))
    }

    fn describe(description: Description) -> Description {
        description.answers::<ProductResultsView>()
    }
}
