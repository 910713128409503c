//! The headers of a request to DynamoDB.

use aws_runtime::invocation_id::InvocationIdInterceptor;
use aws_runtime::request_info::RequestInfoInterceptor;
use aws_runtime::user_agent::UserAgentInterceptor;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeSerializationInterceptorContextRef, BeforeTransmitInterceptorContextMut,
};
use aws_smithy_runtime_api::client::interceptors::{Intercept, disable_interceptor, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

/// The client's name, as AWS's own logs show it.
const USER_AGENT: &str = concat!("till/", env!("CARGO_PKG_VERSION"));

/// Leaves out the SDK's headers for AWS's statistics of clients, versions and retries. DynamoDB needs none of them, and
/// each one is built, signed and encrypted for every request.
#[derive(Debug)]
pub(crate) struct StripSdkHeaders;

#[dyn_dispatch_hint]
impl Intercept for StripSdkHeaders {
    fn name(&self) -> &'static str {
        "StripSdkHeaders"
    }

    fn read_before_execution(
        &self,
        _: &BeforeSerializationInterceptorContextRef<'_>,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        const CAUSE: &str = "DynamoDB does not need it";
        config
            .interceptor_state()
            .store_put(disable_interceptor::<InvocationIdInterceptor>(CAUSE))
            .store_put(disable_interceptor::<RequestInfoInterceptor>(CAUSE))
            .store_put(disable_interceptor::<UserAgentInterceptor>(CAUSE));
        Ok(())
    }

    fn modify_before_signing(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        context.request_mut().headers_mut().insert("user-agent", USER_AGENT);
        Ok(())
    }
}
