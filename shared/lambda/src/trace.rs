//! The trace of an invocation in AWS X-Ray. Lambda itself makes the trace, if the template's `Tracing` is on.

use lambda_runtime::Context;

/// The id of the invocation's trace, if X-Ray records it.
///
/// Lambda gives each invocation a trace header, also where nothing is recorded:
/// <https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader>.
pub fn trace_id(context: &Context) -> Option<&str> {
    let parts = || context.xray_trace_id.as_deref().unwrap_or_default().split(';').map(str::trim);
    let is_recorded = parts().any(|part| part == "Sampled=1");
    parts().find_map(|part| part.strip_prefix("Root=")).filter(|_| is_recorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_in(header: Option<&str>) -> Option<String> {
        let mut context = Context::default();
        context.xray_trace_id = header.map(str::to_owned);
        trace_id(&context).map(str::to_owned)
    }

    #[test]
    fn only_a_trace_that_is_recorded_has_an_id() {
        let id = "1-5759e988-bd862e3fe1be46a994272793";
        for (header, found) in [
            (Some(format!("Root={id};Parent=53995c3f42cd8ad8;Sampled=1")), true),
            (Some(format!("Sampled=1; Root={id}; Lineage=a87bd80c:1|68fd508a:5")), true),
            (Some(format!("Root={id};Parent=53995c3f42cd8ad8;Sampled=0")), false),
            (Some(format!("Root={id}")), false),
            (Some("Sampled=1".to_owned()), false),
            (Some(String::new()), false),
            (None, false),
        ] {
            assert_eq!(id_in(header.as_deref()).as_deref(), found.then_some(id), "{header:?}");
        }
    }
}
