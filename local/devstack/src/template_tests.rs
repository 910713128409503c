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
  GetNoteRole:
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
  GetNote:
    Type: AWS::Serverless::Function
    Properties:
      Handler: get-note
      Role: !GetAtt GetNoteRole.Arn
      Timeout: 5
      Environment: { Variables: { LOG: !If [IsLive, quiet, !Join ['-', [very, loud]]] } }
      Events:
        Get:
          Type: HttpApi
          Properties:
            Path: /notes/{noteId}
            Method: get
            Auth: { AuthorizationScopes: [read, admin] }
  ListTopics:
    Type: AWS::Serverless::Function
    Properties:
      Handler: list-topics
      Role: !GetAtt Role.Arn
      Events:
        List: { Type: HttpApi, Properties: { Path: /topics, Method: GET, Auth: { Authorizer: NONE } } }
  ImportNotes:
    Type: AWS::Serverless::Function
    Properties:
      Handler: import-notes
      Role: !GetAtt Role.Arn
      Events:
        Queue: { Type: SQS, Properties: { Queue: !GetAtt Queue.Arn } }
  Queue: { Type: AWS::SQS::Queue, Properties: { VisibilityTimeout: 60 } }
";

pub(crate) fn error_with(sound: &str, from: &str, to: &str) -> String {
    assert!(sound.contains(from), "{from} is not in the sound template");
    let error = format!("{:#}", Template::parse(&sound.replacen(from, to, 1)).unwrap_err());
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
        [route("GET", "/notes/{noteId}", "GetNote", &["read", "admin"]), route("GET", "/topics", "ListTopics", &[]),]
    );
}

#[test]
fn functions_inherit_globals_that_they_do_not_override() {
    let template = Template::parse(SOUND).unwrap();
    let get_note = template.function("GetNote").unwrap();
    assert_eq!((get_note.handler.as_str(), get_note.timeout_seconds), ("get-note", 5));
    assert_eq!(get_note.environment["TABLE_NAME"], "devstack-table");
    assert_eq!(get_note.environment["LOG"], "very-loud");

    let import_notes = template.function("ImportNotes").unwrap();
    assert_eq!(import_notes.timeout_seconds, 10);
    assert_eq!(import_notes.environment["LOG"], "dev-us-east-1-${Literal}");
    assert_eq!(import_notes.role.name, "Role");
    assert_eq!(import_notes.role.policies[0].statements[0].actions, ["logs:PutLogEvents"], "the managed policy");
}

#[test]
fn policies_name_the_local_table() {
    let template = Template::parse(SOUND).unwrap();
    let role = &template.function("GetNote").unwrap().role;
    let statement = &role.policies[0].statements[0];
    let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/devstack-table";
    assert_eq!((role.name.as_str(), role.policies.len()), ("GetNoteRole", 1));
    assert_eq!(statement.resources, [arn.to_owned(), format!("{arn}/index/GSI1")]);
    assert_eq!(statement.conditions[0].values, ["o#*"]);
}

#[test]
fn what_cannot_run_is_named() {
    let variable = "GetNote: Environment.Variables.TABLE_NAME:";
    for (from, to, error) in [
        ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "Resources has no AWS::DynamoDB::Table"),
        ("Path: /notes/{noteId}", "Pfad: /x", "GetNote: Events.Get: Path is missing"),
        (
            "Path: /topics,",
            "Path: '/notes/{id}',",
            "ListTopics: Events.List: GET /notes/{id} is already a route of GetNote",
        ),
        (
            ", Auth: { Authorizer: NONE }",
            "",
            "ListTopics: Events.List: Auth is missing: name AuthorizationScopes, or Authorizer: NONE",
        ),
        (
            "AuthorizationScopes: [read, admin]",
            "AuthorizationScopes: []",
            "GetNote: Events.Get: Auth: AuthorizationScopes is missing",
        ),
        ("Handler: list-topics", "Runtime: provided.al2023", "ListTopics: Handler is missing"),
        (
            "Handler: list-topics",
            "Handler: get-note",
            "ListTopics: Handler: get-note is already the handler of GetNote",
        ),
        (
            "Queue: { Type: SQS,",
            "Queue: { Type: SNS,",
            "ImportNotes: Events.Queue: Type: SNS is not one of HttpApi, SQS, Schedule",
        ),
        ("Queue: { Type: SQS,", "Queue: {", "ImportNotes: Events.Queue: Type is missing"),
        (
            "TABLE_NAME: !Ref Table",
            "TABLE_NAME: !Ref Tabel",
            &format!("{variable} Tabel is neither a parameter nor a resource"),
        ),
        (
            "TABLE_NAME: !Ref Table",
            "TABLE_NAME: !ImportValue Table",
            &format!("{variable} !ImportValue is not known to the laptop stack"),
        ),
        (
            "TABLE_NAME: !Ref Table",
            "TABLE_NAME: !Ref Secret",
            &format!("{variable} parameter Secret has no Default to use on a laptop"),
        ),
        ("      Role: !GetAtt GetNoteRole.Arn\n", "", "GetNote: Role is missing"),
        (
            "!GetAtt GetNoteRole.Arn",
            "!GetAtt Nobody.Arn",
            "GetNote: Role: Nobody is neither a parameter nor a resource",
        ),
        (
            "!GetAtt GetNoteRole.Arn",
            "arn:aws:iam::1:role/theirs",
            "GetNote: Role: arn:aws:iam::1:role/theirs is not the Arn of a role of this template",
        ),
        (
            "ManagedPolicyArns: [!Ref WriteLogs]",
            "ManagedPolicyArns: ['arn:aws:iam::aws:policy/Admin']",
            "Role: ManagedPolicyArns: arn:aws:iam::aws:policy/Admin is no policy of this template",
        ),
    ] {
        assert_eq!(error_with(SOUND, from, to), error);
    }
}

#[test]
fn an_unknown_policy_element_is_named() {
    let role = "GetNoteRole: Policies[0]: PolicyDocument: Statement[0]";
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
        assert_eq!(error_with(SOUND, from, to), format!("{role}: {error}"));
    }
    let variable = error_with(SOUND, "'o#*' }", "'${aws:username}' }");
    assert!(variable.ends_with("${aws:username}: variables are not known to the laptop stack"), "{variable}");
}

#[test]
fn the_table_is_a_valid_create_table_request() {
    let template = Template::parse(SOUND).unwrap();
    let [table] = template.tables.as_slice() else { panic!("{:?}", template.tables) };
    assert_eq!((table.logical_id.as_str(), table.name()), ("Table", "devstack-table"));
    assert_eq!(table.creation["StreamSpecification"]["StreamEnabled"], true);
    assert_eq!(table.creation["KeySchema"][1]["AttributeName"], "SK");
    assert_eq!(table.creation["GlobalSecondaryIndexes"][0].as_object().unwrap().len(), 3);
    assert_eq!(table.creation.get("OnDemandThroughput"), None);
    assert_eq!(table.ttl_attribute.as_deref(), Some("expiresAt"));
}

#[test]
fn a_table_that_has_a_name_keeps_it() {
    let text = SOUND.replacen("BillingMode:", "TableName: !Sub '${Stage}-table'\n      BillingMode:", 1);
    let template = Template::parse(&text).unwrap();
    assert_eq!(template.table_name(), "dev-table");
    assert_eq!(template.function("GetNote").unwrap().environment["TABLE_NAME"], "dev-table");
}

#[test]
fn invalid_yaml_is_reported() {
    let error = format!("{:#}", Template::parse("Resources: [").unwrap_err());
    assert!(error.starts_with("this is not valid YAML: "), "{error}");
}

#[test]
fn a_disabled_schedule_invokes_no_function() {
    let scheduled = |state: &str| {
        let daily = format!("Daily: {{ Type: Schedule, Properties: {{ Schedule: rate(1 day){state} }} }}");
        let text = SOUND.replace("Queue: { Type: SQS,", &format!("{daily}\n        Queue: {{ Type: SQS,"));
        Template::parse(&text).unwrap().scheduled.contains_key("import-notes")
    };
    assert!(scheduled("") && scheduled(", State: ENABLED") && !scheduled(", State: DISABLED"));
}

#[test]
fn a_function_may_have_a_number_of_its_own_of_concurrent_invocations() {
    let reserved = |function: &str| {
        let own = "Handler: get-note\n      ReservedConcurrentExecutions: !If [IsLive, !Ref AWS::NoValue, 0]";
        let text = SOUND
            .replace("Handler: get-note", own)
            .replace("Timeout: 10", "Timeout: 10\n    ReservedConcurrentExecutions: 7");
        Template::parse(&text).unwrap().function(function).unwrap().reserved_concurrency
    };
    assert_eq!((reserved("GetNote"), reserved("ListTopics")), (Some(0), Some(7)));
}

/// The same template with its table in a nested stack, and that stack.
fn with_nested_table(name: &str) -> Result<Template> {
    let (before, rest) = SOUND.split_once("  Table:\n").unwrap();
    let (table, after) = rest.split_once("  Role: {").unwrap();
    let nested =
        "  State:\n    Type: AWS::CloudFormation::Stack\n    Properties: { TemplateURL: state.yaml }\n  Role: {";
    let outer = [before, nested, after].concat();
    let outer = outer.replace("!Ref Table", &format!("!GetAtt State.Outputs.{name}"));
    let outer = outer.replace("Table.Arn", "State.Outputs.Arn");
    let outputs = "Outputs:\n  Name: { Value: !Ref Table }\n  Arn: { Value: !GetAtt Table.Arn }\n";
    let nested = BTreeMap::from([("state.yaml".to_owned(), format!("Resources:\n  Table:\n{table}{outputs}"))]);
    Template::parse_for(&outer, &Deployment { nested, ..Deployment::default() })
}

#[test]
fn a_nested_stack_that_the_deployment_has_adds_its_table_and_its_outputs() {
    let (nested, own) = (with_nested_table("Name").unwrap(), Template::parse(SOUND).unwrap());
    assert_eq!((nested.tables, nested.functions), (own.tables, own.functions));
    let error = format!("{:#}", with_nested_table("Other").unwrap_err());
    assert!(error.ends_with("State: this nested stack has no Outputs.Other in this deployment"), "{error}");
}

#[test]
fn a_nested_stack_that_the_deployment_has_adds_its_roles() {
    let (before, rest) = SOUND.split_once("  GetNoteRole:\n").unwrap();
    let (role, after) = rest.split_once("  WriteLogs:\n").unwrap();
    let nested = "  Roles:\n    Type: AWS::CloudFormation::Stack\n    Properties: { TemplateURL: roles.yaml, Parameters: { Notes: \
                  !GetAtt Table.Arn } }\n  WriteLogs:\n";
    let outer = [before, nested, after].concat().replace("GetNoteRole.Arn", "Roles.Outputs.GetNote");
    let inner = format!(
        "Parameters:\n  Notes: {{ Type: String }}\nResources:\n  GetNoteRole:\n{}Outputs:\n  GetNote: {{ Value: !GetAtt \
         GetNoteRole.Arn }}\n",
        role.replace("!GetAtt Table.Arn", "!Ref Notes").replace("${Table.Arn}", "${Notes}")
    );
    let nested = BTreeMap::from([("roles.yaml".to_owned(), inner)]);
    let template = Template::parse_for(&outer, &Deployment { nested, ..Deployment::default() }).unwrap();
    assert_eq!(template.functions, Template::parse(SOUND).unwrap().functions);
}
