"""Where people sign in to the deployed stack: the user pool that the template makes when no other issuer is named."""

# No server listens there. The scenario reads the redirect, but does not follow it.
CALLBACK = "https://shop.example/signed-in"


def parameters():
    return [f"CallbackUrls={CALLBACK}"]


def variables(cloud, stack):
    """The scenario's variables for sign-in. The back office's secret is read from Cognito, and the hosted pages are on MiniStack's port."""
    pool, client = stack.outputs["UserPoolId"], stack.outputs["BackOfficeClientId"]
    secret = cloud.client("cognito-idp").describe_user_pool_client(UserPoolId=pool, ClientId=client)
    return {
        "TILL_SIGN_IN_URL": cloud.url,
        "TILL_USER_POOL": pool,
        "TILL_SHOP_CLIENT": stack.outputs["ShopClientId"],
        "TILL_SHOP_CALLBACK": CALLBACK,
        "TILL_BACK_OFFICE_CLIENT": client,
        "TILL_BACK_OFFICE_SECRET": secret["UserPoolClient"]["ClientSecret"],
    }
