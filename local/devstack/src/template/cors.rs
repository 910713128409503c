//! The CORS rules of the template's HTTP API.

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;
use yaml_serde::Value as Yaml;

use super::declared;
use crate::intrinsic::Scope;

/// Which pages of other origins may call the API, and what they may send and read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cors {
    /// Origins such as `https://notes.example`. `*` allows every origin. Only here, and not on AWS, `:*` at the end of an
    /// origin allows every port.
    pub allow_origins: Vec<String>,
    pub allow_methods: Vec<String>,
    pub allow_headers: Vec<String>,
    /// The headers of an answer that a page may read.
    pub expose_headers: Vec<String>,
    /// The seconds for which a browser may keep these rules.
    pub max_age: Option<u64>,
}

impl Cors {
    /// The rules of the template's HTTP API, or of `Globals`, if there are any.
    pub(super) fn read(scope: &Scope, document: &Yaml) -> Result<Option<Self>> {
        let resources = document.get("Resources").and_then(Yaml::as_mapping).into_iter();
        let apis = resources.flat_map(|all| declared(all, "AWS::Serverless::HttpApi"));
        let mut rules = apis.map(|(id, api)| (id, api.get("Properties").and_then(|api| api.get("CorsConfiguration"))));
        let globals = || document.get("Globals")?.get("HttpApi")?.get("CorsConfiguration");
        let (id, rules) = rules.find(|(_, rules)| rules.is_some()).unwrap_or_else(|| ("Globals", globals()));
        let Some(rules) = rules else { return Ok(None) };
        Self::resolve(scope, rules).context("CorsConfiguration").with_context(|| id.to_owned())
    }

    fn resolve(scope: &Scope, rules: &Yaml) -> Result<Option<Self>> {
        let rules = match scope.resolve(rules)? {
            Json::Null => return Ok(None),
            Json::Object(rules) => rules,
            other => bail!("{other} is not a mapping with AllowOrigins"),
        };
        let mut cors = Self::default();
        for (name, value) in rules {
            // SAM's spelling begins with a capital letter, and OpenAPI's with a small one.
            match name.to_ascii_lowercase().as_str() {
                "alloworigins" => cors.allow_origins = texts(&name, &value)?,
                "allowmethods" => cors.allow_methods = texts(&name, &value)?,
                "allowheaders" => cors.allow_headers = texts(&name, &value)?,
                "exposeheaders" => cors.expose_headers = texts(&name, &value)?,
                "maxage" => cors.max_age = Some(value.as_u64().context("MaxAge is not a number of seconds")?),
                _ => bail!("{name} is not known to the laptop stack"),
            }
        }
        Ok(Some(cors))
    }
}

fn texts(name: &str, value: &Json) -> Result<Vec<String>> {
    let texts = value.as_array().map(|values| values.iter().map(|value| value.as_str().map(str::to_owned)).collect());
    texts.flatten().with_context(|| format!("{name} is not a list of texts"))
}
