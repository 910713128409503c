//! Exports of the table that the shop has left.

mod damages;

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use key_schema::entity::Phase;
use key_schema::layout::{Layout, OF_A_MIGRATION};
use lambda::Environment;
use local::archive::{Against, Location, Record, Sums, Table, Units, Verdict, verify};
use md5::{Digest as _, Md5};
use objects::Bucket;

use super::MigratingShop;
use super::copying::{Operator, busy_shop};
use super::in_step::send_all_events;
use crate::prelude::*;

const BUCKET: &str = "till-local-archive-bucket";
const UNITS: Units = Units { per_second: 1_000_000, workers: 3 };

/// The table of a shop, and the place of its archive.
struct Left {
    migrating: MigratingShop,
    environment: Environment,
    bucket: Bucket,
}

impl Left {
    fn of(migrating: MigratingShop) -> Self {
        let url = migrating.shop.s3_url().expect("the template has a bucket");
        let more = [("AWS_ENDPOINT_URL_S3", url), ("AWS_SECRET_ACCESS_KEY", "local")];
        let more = more.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = migrating.shop.operator().with(more);
        let bucket = Bucket::open(&environment, BUCKET).expect("a client");
        Self { migrating, environment, bucket }
    }

    fn table(&self, layout: Layout) -> Table {
        let name = if layout == Layout::V1 { self.migrating.shop.table() } else { &self.migrating.next };
        let variables = [("TABLE_NAME", name), ("TABLE_LAYOUT", layout.name())];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Table::open(&self.environment.clone().with(variables), UNITS).expect("a client")
    }

    fn location(&self, id: &str) -> Location {
        Location::parse(&self.environment, &format!("s3://{BUCKET}/old/tables/AWSDynamoDB/{id}")).expect("a place")
    }

    /// Exports a table as DynamoDB does: files in other parts than those of a scan, one of them empty, with tags of uploads
    /// in parts. Returns the number of items.
    async fn export(&self, id: &str, table: &str) -> u64 {
        let dump = self.migrating.shop.dump_of(table).await;
        let folder = format!("old/tables/AWSDynamoDB/{id}");
        let (mut objects, mut manifest) = (BTreeMap::from([("_started".to_owned(), Vec::new())]), String::new());
        let lines: Vec<_> = dump.iter().rev().map(|item| json!({ "Item": item })).collect();
        for (at, lines) in lines.chunks(17).chain([&[][..]]).enumerate() {
            let (name, packed) = (format!("data/{at}q3fxhn6i4dyzosvjdh.json.gz"), pack(lines));
            let entry = json!({
                "itemCount": lines.len(), "md5Checksum": md5(&packed), "etag": "af83d6f217c19b8b0fff8023d8ca4716-1",
                "dataFileS3Key": format!("{folder}/{name}"),
            });
            manifest.extend([entry.to_string(), "\n".to_owned()]);
            objects.insert(name, packed);
        }
        let arn = "arn:aws:dynamodb:us-east-1:123456789012:table/Orders";
        let summary = json!({
            "version": "2020-06-30", "exportArn": format!("{arn}/export/{id}"),
            "startTime": "2026-11-04T07:28:34.028Z", "endTime": "2026-11-04T07:33:43.897Z",
            "tableArn": arn, "tableId": "12345a12-abcd-123a-ab12-1234abc12345", "exportTime": "2026-11-04T07:28:34.028Z",
            "s3Bucket": BUCKET, "s3Prefix": "old/tables", "s3SseAlgorithm": "AES256", "s3SseKmsKeyId": null,
            "manifestFilesS3Key": format!("{folder}/manifest-files.json"), "billedSizeBytes": 0,
            "itemCount": dump.len(), "outputFormat": "DYNAMODB_JSON", "exportType": "FULL_EXPORT",
        });
        for (name, text) in [("files", manifest), ("summary", summary.to_string())] {
            objects.insert(format!("manifest-{name}.md5"), md5(text.as_bytes()).into_bytes());
            objects.insert(format!("manifest-{name}.json"), text.into_bytes());
        }
        self.copy(id, &objects).await;
        dump.len() as u64
    }

    /// Verifies an archive of the first table against it.
    async fn verify(&self, id: &str) -> Verdict {
        let verdict = verify(&self.location(id), &self.table(Layout::V1), Against::Table, |_, _| {}).await;
        verdict.expect("the archive is read")
    }

    async fn verify_alone(&self, id: &str) -> Verdict {
        verify(&self.location(id), &self.table(Layout::V1), Against::Record, |_, _| {})
            .await
            .expect("the archive is read")
    }

    async fn get(&self, id: &str, name: &str) -> Option<Vec<u8>> {
        self.bucket.get(&format!("old/tables/AWSDynamoDB/{id}/{name}")).await.expect("an answer")
    }

    /// The objects of an archive, by their names.
    async fn objects(&self, id: &str) -> BTreeMap<String, Vec<u8>> {
        let folder = format!("old/tables/AWSDynamoDB/{id}/");
        let mut objects = BTreeMap::new();
        for key in self.bucket.list(&folder).await.expect("a list") {
            let name = key.strip_prefix(&folder).expect("a name").to_owned();
            let body = self.get(id, &name).await.expect("it is there");
            objects.insert(name, body);
        }
        objects
    }

    /// Another archive, of these objects.
    async fn copy(&self, id: &str, objects: &BTreeMap<String, Vec<u8>>) {
        for (name, body) in objects {
            let key = format!("old/tables/AWSDynamoDB/{id}/{name}");
            self.bucket.put(&key, "application/octet-stream", body).await.expect("it is written");
        }
    }
}

fn unpack(packed: &[u8]) -> Vec<Value> {
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).expect("compressed text");
    text.lines().map(|line| serde_json::from_str(line).expect("an item")).collect()
}

fn pack(lines: &[Value]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for line in lines {
        writeln!(packed, "{line}").expect("it is packed");
    }
    packed.finish().expect("it is packed")
}

fn md5(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(Md5::digest(bytes))
}

fn is_data(name: &str) -> bool {
    name.starts_with("data/")
}

/// The name of a data file with several items.
fn a_file(objects: &BTreeMap<String, Vec<u8>>) -> String {
    let found = objects.iter().find(|(name, body)| is_data(name) && unpack(body).len() > 3);
    found.expect("a file with several items").0.clone()
}

fn key(line: &Value) -> (String, String) {
    let text = |name: &str| line["Item"][name]["S"].as_str().expect("a key").to_owned();
    (text("PK"), text("SK"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_compared_in_both_layouts_and_gets_a_record() {
    let migrating = MigratingShop::open().await;
    migrating.enter(Phase::Both).await;
    send_all_events(&migrating).await;
    migrating.enter(Phase::Next).await;
    let left = Left::of(migrating);
    let mut sums: Vec<Sums> = Vec::new();
    for layout in Layout::ALL {
        let (id, table) = (format!("01700000000000-{layout}"), left.table(*layout));
        let items = left.export(&id, table.name()).await;
        let (location, objects) = (left.location(&id), left.objects(&id).await);
        let verdict = verify(&location, &table, Against::Table, |_, _| {}).await.expect("the archive is read");
        assert_eq!(verdict.findings, []);
        assert_eq!(verdict.items, items);
        assert_eq!(verdict.of_table.as_ref(), Some(&verdict.archived));
        let record: Record =
            serde_json::from_slice(&left.get(&id, "verified.json").await.expect("a record")).expect("a record");
        assert_eq!((record.items, record.files, &record.sums), (items, verdict.files, &verdict.archived));
        assert_eq!(record.manifest_md5, md5(&objects["manifest-files.json"]));

        let alone = verify(&location, &table, Against::Record, |_, _| {}).await.expect("the archive is read");
        assert_eq!((alone.findings, alone.archived), (vec![], verdict.archived.clone()));
        assert_eq!(alone.verified_before, Some(record.verified_at));
        sums.push(verdict.archived.into_iter().filter(|(kind, _)| !OF_A_MIGRATION.contains(&&**kind)).collect());
    }
    assert_eq!(sums[0], sums[1], "both tables have the same items, in different spellings");
    assert!(sums[0].len() > 15, "{:?}", sums[0].keys());
}

/// Items change no more, but DynamoDB deletes those that expire.
#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_expires_meanwhile_is_no_difference() {
    let left = Left::of(busy_shop().await);
    left.migrating.enter(Phase::Next).await;
    let carts = left.migrating.tables().await[0].keys().filter(|(_, sort)| sort == "cart").count();
    assert!(carts > 2, "{carts} carts");
    left.migrating.shop.set("c#c1", "cart", "expiresAt", json!({ "N": "1700000000" })).await;
    left.export("expiring", left.migrating.shop.table()).await;
    left.migrating.shop.delete("c#c1", "cart").await;
    let verdict = left.verify("expiring").await;
    assert_eq!((verdict.findings, verdict.expiring), (vec![], 1));
    assert_eq!(left.verify_alone("expiring").await.findings, [], "the record counts the same items");
}

/// In its first years, an export had no checksums of the manifests and no type.
#[tokio::test(flavor = "multi_thread")]
async fn an_early_export_is_verified_and_an_incremental_one_is_refused() {
    let left = Left::of(busy_shop().await);
    left.migrating.enter(Phase::Next).await;
    let items = left.export("new", left.migrating.shop.table()).await;
    let mut objects = left.objects("new").await;
    objects.retain(|name, _| !["manifest-files.md5", "manifest-summary.md5"].contains(&name.as_str()));
    let mut summary: Value = serde_json::from_slice(&objects["manifest-summary.json"]).expect("a summary");
    summary.as_object_mut().expect("an object").remove("exportType");
    objects.insert("manifest-summary.json".to_owned(), summary.to_string().into_bytes());
    left.copy("early", &objects).await;
    let url = format!("s3://{BUCKET}/old/tables/AWSDynamoDB/early/manifest-summary.json");
    let location = Location::parse(&left.environment, &url).expect("a place");
    let verdict = verify(&location, &left.table(Layout::V1), Against::Table, |_, _| {}).await.expect("it is read");
    assert_eq!((verdict.findings, verdict.items), (vec![], items));
    assert!(left.get("early", "verified.json").await.is_some());

    summary["exportType"] = json!("INCREMENTAL_EXPORT");
    objects.insert("manifest-summary.json".to_owned(), summary.to_string().into_bytes());
    left.copy("incremental", &objects).await;
    let refused = verify(&left.location("incremental"), &left.table(Layout::V1), Against::Record, |_, _| {}).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("it does not have all items")));
    for url in ["s3://bucket", "https://bucket/x", "s3://bucket/no/such/folder"] {
        assert!(Location::parse(&left.environment, url).is_err(), "{url}");
    }
}

/// As `ImportTable` does: the lines of the archive are put into a new table, which is then equal to the archive.
#[tokio::test(flavor = "multi_thread")]
async fn the_items_of_an_archive_are_put_back_as_they_were() {
    let left = Left::of(busy_shop().await);
    left.migrating.enter(Phase::Next).await;
    left.export("kept", left.migrating.shop.table()).await;
    let alone = left.verify_alone("kept").await;
    assert_eq!((alone.findings, alone.verified_before), (vec![], None), "it was never compared with a table");

    let create = json!({
        "TableName": "Restored",
        "KeySchema": [{ "AttributeName": "PK", "KeyType": "HASH" }, { "AttributeName": "SK", "KeyType": "RANGE" }],
        "AttributeDefinitions": [
            { "AttributeName": "PK", "AttributeType": "S" }, { "AttributeName": "SK", "AttributeType": "S" },
        ],
        "BillingMode": "PAY_PER_REQUEST",
    });
    left.migrating.shop.dynamodb("CreateTable", &create).await;
    let objects = left.objects("kept").await;
    let data = objects.iter().filter(|(name, _)| is_data(name));
    let lines: Vec<_> = data.flat_map(|(_, body)| unpack(body)).collect();
    for line in &lines {
        left.migrating.shop.dynamodb("PutItem", &json!({ "TableName": "Restored", "Item": line["Item"] })).await;
    }
    assert_eq!(left.migrating.shop.dump_of("Restored").await, left.migrating.shop.dump().await);
    let variables = [("TABLE_NAME", "Restored"), ("TABLE_LAYOUT", "v1")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let restored = Table::open(&left.environment.clone().with(variables), UNITS).expect("a client");
    let verdict = verify(&left.location("kept"), &restored, Against::Table, |_, _| {}).await.expect("it is read");
    assert_eq!((verdict.findings, verdict.items), (vec![], lines.len() as u64));
    let record: Record =
        serde_json::from_slice(&left.get("kept", "verified.json").await.expect("a record")).expect("a record");
    assert!(record.table_arn.ends_with(":table/Restored"), "{}", record.table_arn);
}

/// After a deployment with the tables the other way round, a migration back writes the first table again.
#[tokio::test(flavor = "multi_thread")]
async fn a_migration_back_is_seen_from_the_first_table() {
    let migrating = MigratingShop::open().await;
    migrating.enter(Phase::Next).await;
    let there = Operator::of(&migrating);
    let turned = migrating.shop.redeployed("v2-v1").await;
    let back = Operator::between(&turned, Layout::V2, Layout::V1);
    for (step, seen) in [(Phase::Both, Phase::NextLeads), (Phase::First, Phase::Next)] {
        back.step(step).await;
        assert_eq!(there.migrator.state().await.expect("the state").phase(), seen);
    }
}
