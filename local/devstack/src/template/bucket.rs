//! The template's buckets.

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use yaml_serde::{Mapping, Value as Yaml};

use super::{kebab, of_type};
use crate::intrinsic::Scope;
use crate::resource::Resource;

/// One S3 bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// The resource's name in the template: `Pictures`.
    pub logical_id: String,
    /// As declared, or from the stack's name and the logical id: `notes-pictures`.
    pub name: String,
    /// Patterns of the ARNs of the objects that everybody may read, by the bucket's policy.
    pub public: Vec<String>,
    /// Whether the bucket tells EventBridge of its new objects.
    pub tells_of_objects: bool,
}

/// Reads every bucket, and makes it known to references.
pub(super) fn read_all(scope: &mut Scope, resources: &Mapping) -> Result<Vec<Bucket>> {
    let mut buckets: Vec<Bucket> = Vec::new();
    for (id, resource) in of_type(scope, resources, "AWS::S3::Bucket")? {
        let properties = resource.get("Properties").unwrap_or(&Yaml::Null);
        let default = format!("{}-{}", scope.stack_name(), kebab(id));
        let name = scope.text_or(properties, "BucketName", &default).context(id.to_owned())?;
        let twin = buckets.iter().find(|other| other.name == name);
        ensure!(twin.is_none(), "{id}: BucketName: {name} is already the name of another bucket");
        scope.define(id, Resource::Bucket(name.clone()));
        let tells_of_objects = tells_of_objects(scope, properties).context(id.to_owned())?;
        buckets.push(Bucket { logical_id: id.to_owned(), name, public: Vec::new(), tells_of_objects });
    }
    for (id, policy) in of_type(scope, resources, "AWS::S3::BucketPolicy")? {
        let properties = policy.get("Properties").unwrap_or(&Yaml::Null);
        let name = scope.required_text(properties, "Bucket").context(id.to_owned())?;
        let document = scope.required(properties, "PolicyDocument").context(id.to_owned())?;
        if let Some(bucket) = buckets.iter_mut().find(|bucket| bucket.name == name) {
            bucket.public =
                several(&document["Statement"]).iter().filter(|one| is_public(one)).flat_map(open).collect();
        }
    }
    Ok(buckets)
}

/// Whether the bucket has `EventBridgeEnabled`. Other notifications are unknown to the laptop stack, and refused.
fn tells_of_objects(scope: &Scope, properties: &Yaml) -> Result<bool> {
    let Some(told) = properties.get("NotificationConfiguration") else { return Ok(false) };
    let mut kinds = told.as_mapping().into_iter().flatten().filter_map(|(kind, _)| kind.as_str());
    ensure!(
        kinds.all(|kind| kind == "EventBridgeConfiguration"),
        "NotificationConfiguration: the laptop stack knows only EventBridgeConfiguration"
    );
    let bridge = told.get("EventBridgeConfiguration").unwrap_or(&Yaml::Null);
    Ok(scope.text_or(bridge, "EventBridgeEnabled", "true")? == "true")
}

/// Whether a statement of a bucket's policy lets everybody read objects.
fn is_public(statement: &Json) -> bool {
    let is_for_all = statement["Principal"] == "*" || statement["Principal"]["AWS"] == "*";
    let reads = several(&statement["Action"]).iter().any(|action| *action == "s3:GetObject");
    statement["Effect"] == "Allow" && is_for_all && reads && statement["Condition"].is_null()
}

fn open(statement: &Json) -> Vec<String> {
    several(&statement["Resource"]).iter().filter_map(|arn| arn.as_str().map(str::to_owned)).collect()
}

/// The elements of a list, or the only element.
fn several(value: &Json) -> &[Json] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use crate::template::Template;

    fn parse(buckets: &str) -> anyhow::Result<Template> {
        Template::parse(&format!(
            r#"
Conditions:
  Never: !Equals [a, b]
Resources:
  Notes:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{{ AttributeName: PK, KeyType: HASH }}]
      AttributeDefinitions: [{{ AttributeName: PK, AttributeType: S }}]
  Role:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Version: "2012-10-17"
            Statement: [{{ Effect: Allow, Action: s3:GetObject, Resource: !Sub "${{OldPictures.Arn}}/*" }}]
  GetNote:
    Type: AWS::Serverless::Function
    Properties:
      Handler: get-note
      Role: !GetAtt Role.Arn
      Environment: {{ Variables: {{ BUCKET: !Ref OldPictures }} }}
{buckets}"#
        ))
    }

    #[test]
    fn a_bucket_has_its_own_name_or_one_of_the_stack() {
        let template = parse(
            r"
  OldPictures: { Type: AWS::S3::Bucket }
  Letters: { Type: AWS::S3::Bucket, Properties: { BucketName: letters } }
  Never: { Type: AWS::S3::Bucket, Condition: Never }
",
        )
        .expect("a template");
        let buckets: Vec<_> = template.buckets.iter().map(|bucket| (&*bucket.logical_id, &*bucket.name)).collect();
        assert_eq!(buckets, [("OldPictures", "devstack-old-pictures"), ("Letters", "letters")]);
        assert_eq!(template.functions[0].environment["BUCKET"], "devstack-old-pictures");
        let statement = &template.functions[0].role.policies[0].statements[0];
        assert!(format!("{statement:?}").contains("arn:aws:s3:::devstack-old-pictures/"), "{statement:?}");
    }

    #[test]
    fn a_policy_may_open_objects_to_everybody() {
        let template = parse(
            r#"
  OldPictures: { Type: AWS::S3::Bucket }
  Policy:
    Type: AWS::S3::BucketPolicy
    Properties:
      Bucket: !Ref OldPictures
      PolicyDocument:
        Version: "2012-10-17"
        Statement:
          - { Effect: Deny, Principal: "*", Action: "s3:*", Resource: !GetAtt OldPictures.Arn }
          - !If [Never, { Effect: Allow, Principal: "*", Action: s3:GetObject, Resource: "*" }, !Ref AWS::NoValue]
          - { Effect: Allow, Principal: "*", Action: s3:GetObject, Resource: !Sub "${OldPictures.Arn}/open/*" }
"#,
        )
        .expect("a template");
        assert_eq!(template.buckets[0].public, ["arn:aws:s3:::devstack-old-pictures/open/*"]);
    }

    #[test]
    fn a_name_that_comes_twice_is_refused() {
        let bucket = |id: &str| format!("  {id}: {{ Type: AWS::S3::Bucket, Properties: {{ BucketName: one }} }}\n");
        let error = parse(&[bucket("OldPictures"), bucket("New")].concat()).map(drop).expect_err("it is refused");
        assert_eq!(format!("{error:#}"), "New: BucketName: one is already the name of another bucket");
    }
}
