//! Cognito, as a customer's browser and the back office's programs use it.
//!
//! Customers sign in on Cognito's hosted pages. This reads their form as a browser does, with cookies and hidden
//! fields. That works for the classic hosted pages; those of "managed login" are made by JavaScript.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use reqwest::{Client as Http, Response, Url, redirect};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::aws::{Aws, COGNITO};
use crate::page;
use crate::till::variable;

/// The scopes of a customer's token, and of the back office's.
const SHOP: &str = "openid till/shop";
const BACK_OFFICE: &str = "till/admin";

/// A user pool with its two clients.
pub struct SignIn {
    http: Http,
    /// The base URL of the hosted pages and of the token endpoint.
    url: Url,
    pool: String,
    shop_client: String,
    /// The address to which the browser is redirected. No server has to listen there.
    callback: String,
    back_office: [String; 2],
}

/// A customer's e-mail address and password.
pub struct Password {
    user: String,
    password: String,
}

impl SignIn {
    /// The user pool that the environment variables name.
    pub fn from_environment() -> Self {
        let no_redirects = Http::builder().redirect(redirect::Policy::none());
        Self {
            http: no_redirects.build().expect("a client"),
            url: variable("TILL_SIGN_IN_URL").parse().expect("TILL_SIGN_IN_URL is a URL"),
            pool: variable("TILL_USER_POOL"),
            shop_client: variable("TILL_SHOP_CLIENT"),
            callback: variable("TILL_SHOP_CALLBACK"),
            back_office: ["TILL_BACK_OFFICE_CLIENT", "TILL_BACK_OFFICE_SECRET"].map(variable),
        }
    }

    /// Signs up a new customer, and confirms the address as an administrator, because nobody reads its mail.
    pub async fn sign_up(&self, aws: &Aws, email: &str) -> Password {
        let password = format!("Aa1!{}", Uuid::new_v4());
        let attributes = json!([{ "Name": "email", "Value": email }]);
        let user = json!({
            "ClientId": self.shop_client, "Username": email, "Password": password, "UserAttributes": attributes,
        });
        aws.call(COGNITO, "SignUp", &user).await;
        aws.call(COGNITO, "AdminConfirmSignUp", &json!({ "UserPoolId": self.pool, "Username": email })).await;
        Password { user: email.to_owned(), password }
    }

    /// A customer's access token, by the authorization code flow with a proof key: RFC 7636.
    pub async fn customer_token(&self, password: &Password) -> String {
        let verifier = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let code = self.authorization_code(password, &challenge(&verifier)).await;
        let grant = [
            ("grant_type", "authorization_code"),
            ("client_id", self.shop_client.as_str()),
            ("redirect_uri", self.callback.as_str()),
            ("code", code.as_str()),
            ("code_verifier", verifier.as_str()),
        ];
        self.token(&grant, None).await
    }

    /// The back office's access token, by the client credentials flow.
    pub async fn back_office_token(&self) -> String {
        self.token(&[("grant_type", "client_credentials"), ("scope", BACK_OFFICE)], Some(&self.back_office)).await
    }

    /// The authorization code from the redirect after the form was submitted.
    async fn authorization_code(&self, password: &Password, challenge: &str) -> String {
        let state = Uuid::new_v4().to_string();
        let mut url = self.url.join("/oauth2/authorize").expect("a path");
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.shop_client)
            .append_pair("redirect_uri", &self.callback)
            .append_pair("scope", SHOP)
            .append_pair("state", &state)
            .append_pair("code_challenge_method", "S256")
            .append_pair("code_challenge", challenge);
        let mut cookies = Vec::new();
        let mut answer = self.http.get(url.clone()).send().await.expect("the sign-in page");
        // Cognito sends a browser from /oauth2/authorize to /login, with a cookie.
        while let Some(location) = location(&answer) {
            keep_cookies(&mut cookies, &answer);
            url = url.join(&location).expect("a URL");
            answer = self.http.get(url.clone()).header("cookie", cookies.join("; ")).send().await.expect("a page");
        }
        keep_cookies(&mut cookies, &answer);
        let html = answer.text().await.expect("a page");
        let form = page::form(&html).unwrap_or_else(|| panic!("{url} has no form to sign in with: {html}"));
        let mut fields = form.hidden;
        fields.push(("username".to_owned(), password.user.clone()));
        fields.push(("password".to_owned(), password.password.clone()));
        let action = url.join(&form.action).expect("a URL");
        let sent =
            self.send_form(action, &fields).header("cookie", cookies.join("; ")).send().await.expect("an answer");
        let Some(location) = location(&sent) else {
            panic!("{} was not signed in: {}", password.user, sent.text().await.unwrap_or_default());
        };
        let back = Url::parse(&location).expect("a URL");
        assert!(back.as_str().starts_with(&self.callback), "sent to {back}, not to {}", self.callback);
        let given =
            |wanted: &str| back.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
        assert_eq!(given("state"), Some(state), "{back}");
        given("code").unwrap_or_else(|| panic!("{back} has no code"))
    }

    async fn token(&self, grant: &[(&str, &str)], client: Option<&[String; 2]>) -> String {
        let mut call = self.send_form(self.url.join("/oauth2/token").expect("a path"), grant);
        if let Some([id, secret]) = client {
            call = call.basic_auth(id, Some(secret));
        }
        let answer: Value = call.send().await.expect("a token").json().await.expect("JSON");
        answer["access_token"].as_str().unwrap_or_else(|| panic!("no token: {answer}")).to_owned()
    }

    fn send_form<T: AsRef<str>>(&self, url: Url, fields: &[(T, T)]) -> reqwest::RequestBuilder {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.http.post(url).header("content-type", "application/x-www-form-urlencoded").body(body)
    }
}

/// The `sub` of a token.
pub fn subject(token: &str) -> String {
    let claims = token.split('.').nth(1).expect("a JWT");
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).expect("base64");
    let claims: Value = serde_json::from_slice(&claims).expect("JSON");
    claims["sub"].as_str().expect("a subject").to_owned()
}

fn challenge(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

fn location(answer: &Response) -> Option<String> {
    let location = answer.headers().get("location").filter(|_| answer.status().is_redirection())?;
    Some(location.to_str().expect("a URL").to_owned())
}

fn keep_cookies(cookies: &mut Vec<String>, answer: &Response) {
    for cookie in answer.headers().get_all("set-cookie") {
        let pair = cookie.to_str().expect("a text").split(';').next().unwrap_or_default().to_owned();
        let name = pair.split('=').next().unwrap_or_default().to_owned();
        cookies.retain(|known| known.split('=').next() != Some(name.as_str()));
        cookies.push(pair);
    }
}

#[test]
fn the_challenge_matches_the_example_of_the_rfc() {
    // RFC 7636, appendix B.
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    assert_eq!(challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}
