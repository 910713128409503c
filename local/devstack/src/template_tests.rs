use super::*;

const SOUND: &str = r"
Parameters:
  Stage: { Type: String, Default: dev }
  Secret: { Type: String }
Conditions:
  IsLive: !Equals [!Ref Stage, live]
Globals:
  Function:
    Timeout: 10
    Environment:
      Variables:
        TABLE_NAME: !Ref Table
        LOG: !Sub '${Stage}-${AWS::Region}-${!Literal}'
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      OnDemandThroughput: { MaxWriteRequestUnits: 100 }
      KeySchema: [{ AttributeName: PK, KeyType: HASH }, { AttributeName: SK, KeyType: RANGE }]
      AttributeDefinitions:
        - { AttributeName: PK, AttributeType: S }
        - { AttributeName: SK, AttributeType: S }
        - { AttributeName: GSI1PK, AttributeType: S }
      GlobalSecondaryIndexes:
        - IndexName: GSI1
          KeySchema: [{ AttributeName: GSI1PK, KeyType: HASH }]
          Projection: { ProjectionType: ALL }
          OnDemandThroughput: { MaxWriteRequestUnits: 100 }
      StreamSpecification: { StreamViewType: NEW_AND_OLD_IMAGES }
      TimeToLiveSpecification: { AttributeName: expiresAt, Enabled: true }
  Role: { Type: AWS::IAM::Role, Properties: { ManagedPolicyArns: [!Ref WriteLogs] } }
  GetOrderRole:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Version: '2012-10-17'
            Statement:
              Effect: Allow
              Action: dynamodb:Query
              Resource: [!GetAtt Table.Arn, !Sub '${Table.Arn}/index/GSI1', !Ref AWS::NoValue]
              Condition: { 'ForAllValues:StringLike': { dynamodb:LeadingKeys: 'o#*' } }
  WriteLogs:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Version: '2012-10-17'
        Statement: [{ Effect: Allow, Action: logs:PutLogEvents, Resource: !GetAtt Dashboard.Arn }]
  Dashboard:
    Type: AWS::CloudWatch::Dashboard
    Properties: { DashboardBody: !ImportValue Whatever }
  GetOrder:
    Type: AWS::Serverless::Function
    Properties:
      Handler: get-order
      Role: !GetAtt GetOrderRole.Arn
      Timeout: 5
      Environment: { Variables: { LOG: !If [IsLive, quiet, !Join ['-', [very, loud]]] } }
      Events:
        Get:
          Type: HttpApi
          Properties:
            Path: /orders/{orderId}
            Method: get
            Auth: { AuthorizationScopes: [shop, admin] }
  ListProducts:
    Type: AWS::Serverless::Function
    Properties:
      Handler: list-products
      Role: !GetAtt Role.Arn
      Events:
        List: { Type: HttpApi, Properties: { Path: /products, Method: GET, Auth: { Authorizer: NONE } } }
  DrainWrites:
    Type: AWS::Serverless::Function
    Properties:
      Handler: drain-writes
      Role: !GetAtt Role.Arn
      Events:
        Queue: { Type: SQS, Properties: { Queue: !GetAtt Queue.Arn } }
  Queue: { Type: AWS::SQS::Queue, Properties: { VisibilityTimeout: 60 } }
";

/// The error message for the valid template with this change.
fn error_with(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from} is not in the sound template");
    let error = format!("{:#}", Template::parse(&SOUND.replacen(from, to, 1)).unwrap_err());
    assert!(!error.contains('\n'), "more than one line: {error}");
    error
}

#[test]
fn routes_come_with_their_scopes_and_functions() {
    let template = Template::parse(SOUND).unwrap();
    let route = |method: &str, path: &str, function: &str, scopes: &[&str]| Route {
        method: method.to_owned(),
        path: path.to_owned(),
        function: function.to_owned(),
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
    };
    assert_eq!(
        template.routes,
        [
            route("GET", "/orders/{orderId}", "GetOrder", &["shop", "admin"]),
            route("GET", "/products", "ListProducts", &[]),
        ]
    );
}

#[test]
fn functions_inherit_globals_that_they_do_not_override() {
    let template = Template::parse(SOUND).unwrap();
    let get_order = template.function("GetOrder").unwrap();
    assert_eq!((get_order.handler.as_str(), get_order.timeout_seconds), ("get-order", 5));
    assert_eq!(get_order.environment["TABLE_NAME"], "till-local-orders");
    assert_eq!(get_order.environment["LOG"], "very-loud");

    let drain_writes = template.function("DrainWrites").unwrap();
    assert_eq!(drain_writes.timeout_seconds, 10);
    assert_eq!(drain_writes.environment["LOG"], "dev-us-east-1-${Literal}");
    assert_eq!(drain_writes.role.name, "Role");
    assert_eq!(drain_writes.role.policies[0].statements[0].actions, ["logs:PutLogEvents"], "the managed policy");
}

#[test]
fn policies_name_the_local_table() {
    let template = Template::parse(SOUND).unwrap();
    let role = &template.function("GetOrder").unwrap().role;
    let statement = &role.policies[0].statements[0];
    let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/till-local-orders";
    assert_eq!((role.name.as_str(), role.policies.len()), ("GetOrderRole", 1));
    assert_eq!(statement.resources, [arn.to_owned(), format!("{arn}/index/GSI1")]);
    assert_eq!(statement.conditions[0].values, ["o#*"]);
}

#[test]
fn a_function_without_a_role_of_the_template_is_named() {
    let role = "      Role: !GetAtt GetOrderRole.Arn\n";
    assert_eq!(error_with(role, ""), "GetOrder: Role is missing");
    assert_eq!(
        error_with("!GetAtt GetOrderRole.Arn", "!GetAtt Nobody.Arn"),
        "GetOrder: Role: Nobody is neither a parameter nor a resource"
    );
    assert_eq!(
        error_with("!GetAtt GetOrderRole.Arn", "arn:aws:iam::1:role/theirs"),
        "GetOrder: Role: arn:aws:iam::1:role/theirs is not the Arn of a role of this template"
    );
    assert_eq!(
        error_with("ManagedPolicyArns: [!Ref WriteLogs]", "ManagedPolicyArns: ['arn:aws:iam::aws:policy/Admin']"),
        "Role: ManagedPolicyArns: arn:aws:iam::aws:policy/Admin is no policy of this template"
    );
}

#[test]
fn an_unknown_policy_element_is_named() {
    let role = "GetOrderRole: Policies[0]: PolicyDocument: Statement[0]";
    let cases = [
        ("Action: dynamodb:Query", "NotAction: dynamodb:Scan", "NotAction is not known to the laptop stack"),
        (
            "Effect: Allow\n              Action: dynamodb",
            "Effect: Maybe\n              Action: dynamodb",
            "Effect is neither Allow nor Deny",
        ),
        (
            "ForAllValues:StringLike",
            "ForAllValues:StringNotLike",
            "Condition: ForAllValues:StringNotLike is not known to the laptop stack",
        ),
        (
            "'ForAllValues:StringLike'",
            "StringLike",
            "Condition: StringLike: dynamodb:LeadingKeys may have several values, so it needs ForAllValues or ForAnyValue",
        ),
        (
            "dynamodb:LeadingKeys",
            "dynamodb:LeadingKey",
            "Condition: ForAllValues:StringLike: no call has the key dynamodb:LeadingKey",
        ),
    ];
    for (from, to, error) in cases {
        assert_eq!(error_with(from, to), format!("{role}: {error}"));
    }
    let variable = error_with("'o#*' }", "'${aws:username}' }");
    assert!(variable.ends_with("${aws:username}: variables are not known to the laptop stack"), "{variable}");
}

#[test]
fn the_table_is_a_valid_create_table_request() {
    let template = Template::parse(SOUND).unwrap();
    assert_eq!(template.table["StreamSpecification"]["StreamEnabled"], true);
    assert_eq!(template.table["KeySchema"][1]["AttributeName"], "SK");
    assert_eq!(template.table["GlobalSecondaryIndexes"][0].as_object().unwrap().len(), 3);
    assert_eq!(template.table.get("OnDemandThroughput"), None);
    assert_eq!(template.ttl_attribute.as_deref(), Some("expiresAt"));
}

#[test]
fn a_table_that_has_a_name_keeps_it() {
    let text = SOUND.replacen("BillingMode:", "TableName: !Sub '${Stage}-table'\n      BillingMode:", 1);
    let template = Template::parse(&text).unwrap();
    assert_eq!(template.table_name(), "dev-table");
    assert_eq!(template.function("GetOrder").unwrap().environment["TABLE_NAME"], "dev-table");
}

#[test]
fn invalid_yaml_is_reported() {
    let error = format!("{:#}", Template::parse("Resources: [").unwrap_err());
    assert!(error.starts_with("this is not valid YAML: "), "{error}");
}

#[test]
fn a_missing_path_is_named() {
    assert_eq!(error_with("Path: /orders/{orderId}", "Pfad: /x"), "GetOrder: Events.Get: Path is missing");
}

#[test]
fn a_reference_to_nothing_is_named() {
    assert_eq!(
        error_with("TABLE_NAME: !Ref Table", "TABLE_NAME: !Ref Tabel"),
        "GetOrder: Environment.Variables.TABLE_NAME: Tabel is neither a parameter nor a resource"
    );
}

#[test]
fn a_parameter_without_a_default_is_named() {
    assert_eq!(
        error_with("LOG: !Sub '${Stage}", "LOG: !Sub '${Secret}"),
        "GetOrder: Environment.Variables.LOG: parameter Secret has no Default to use on a laptop"
    );
}

#[test]
fn two_functions_on_one_route_are_named() {
    assert_eq!(
        error_with("Path: /products,", "Path: '/orders/{id}',"),
        "ListProducts: Events.List: GET /orders/{id} is already a route of GetOrder"
    );
}

#[test]
fn a_template_without_a_table_is_refused() {
    assert_eq!(error_with("AWS::DynamoDB::Table", "AWS::S3::Bucket"), "Resources has no AWS::DynamoDB::Table");
}

#[test]
fn a_function_without_a_handler_is_named() {
    assert_eq!(error_with("Handler: list-products", "Runtime: provided.al2023"), "ListProducts: Handler is missing");
}

#[test]
fn a_route_is_public_only_if_the_template_says_so_explicitly() {
    let error = error_with(", Auth: { Authorizer: NONE }", "");
    assert_eq!(error, "ListProducts: Events.List: Auth is missing: name AuthorizationScopes, or Authorizer: NONE");
    let error = error_with("AuthorizationScopes: [shop, admin]", "AuthorizationScopes: []");
    assert_eq!(error, "GetOrder: Events.Get: Auth: AuthorizationScopes is missing");
}

#[test]
fn an_unknown_intrinsic_function_is_named() {
    assert_eq!(
        error_with("TABLE_NAME: !Ref Table", "TABLE_NAME: !ImportValue Table"),
        "GetOrder: Environment.Variables.TABLE_NAME: !ImportValue is not known to the laptop stack"
    );
}
