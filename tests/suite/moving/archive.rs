//! The archive of the table that the shop has left.

mod damages;

use shop::kills::for_steps;
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use key_schema::entity::Phase;
use key_schema::layout::{Layout, OF_A_MOVE};
use lambda::Environment;
use local::archive::{Against, Location, Record, Sums, Table, Units, Verdict, Written, verify, write};
use md5::{Digest as _, Md5};
use objects::Bucket;

use super::MovingShop;
use super::copying::{Operator, busy_shop};
use super::in_step::send_all_events;
use crate::prelude::*;

const BUCKET: &str = "till-local-archive-bucket";
const UNITS: Units = Units { per_second: 1_000_000, workers: 3 };

/// The table of a shop, and the place of its archive.
struct Left {
    moving: MovingShop,
    environment: Environment,
    bucket: Bucket,
}

impl Left {
    fn of(moving: MovingShop) -> Self {
        let url = moving.shop.s3_url().expect("the template has a bucket");
        let more = [("AWS_ENDPOINT_URL_S3", url), ("AWS_SECRET_ACCESS_KEY", "local")];
        let more = more.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = moving.shop.operator().with(more);
        let bucket = Bucket::open(&environment, BUCKET).expect("a client");
        Self { moving, environment, bucket }
    }

    fn table(&self, layout: Layout) -> Table {
        let name = if layout == Layout::V1 { self.moving.shop.table() } else { &self.moving.next };
        let variables = [("TABLE_NAME", name), ("TABLE_LAYOUT", layout.name())];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Table::open(&self.environment.clone().with(variables), UNITS).expect("a client")
    }

    fn location(&self, id: &str) -> Location {
        Location::new(&self.environment, BUCKET, "old/tables", id).expect("a place")
    }

    /// Writes the first table.
    async fn write(&self, id: &str, files: u32) -> Written {
        let written = write(&self.location(id), &self.table(Layout::V1), Some(files), |_, _| {}).await;
        written.expect("the archive is written")
    }

    /// Verifies an archive of the first table against it.
    async fn verify(&self, id: &str) -> Verdict {
        let verdict = verify(&self.location(id), &self.table(Layout::V1), Against::Table, |_, _| {}).await;
        verdict.expect("the archive is read")
    }

    /// Verifies an archive alone.
    async fn verify_alone(&self, id: &str) -> Verdict {
        verify(&self.location(id), &self.table(Layout::V1), Against::Record, |_, _| {})
            .await
            .expect("the archive is read")
    }

    async fn get(&self, id: &str, name: &str) -> Option<Vec<u8>> {
        let object = self.bucket.get(&format!("old/tables/AWSDynamoDB/{id}/{name}")).await.expect("an answer");
        object.map(|object| object.body)
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
async fn an_archive_has_every_item_once_in_both_layouts_and_the_same_command_writes_nothing_more() {
    let moving = MovingShop::open().await;
    moving.enter(Phase::Both).await;
    send_all_events(&moving).await;
    moving.enter(Phase::Next).await;
    let left = Left::of(moving);
    let mut sums: Vec<Sums> = Vec::new();
    for layout in Layout::ALL {
        let (id, table) = (format!("01700000000000-{layout}"), left.table(*layout));
        let location = left.location(&id);
        let written = write(&location, &table, Some(5), |_, _| {}).await.expect("the archive is written");
        assert_eq!((written.files, written.found), (5, 0));
        let dump = left.moving.shop.dump_of(table.name()).await;
        assert_eq!(written.items, dump.len() as u64);

        let objects = left.objects(&id).await;
        let names: Vec<_> = objects.keys().filter(|name| !is_data(name)).map(String::as_str).collect();
        let expected =
            ["_started", "manifest-files.json", "manifest-files.md5", "manifest-summary.json", "manifest-summary.md5"];
        assert_eq!(names, expected);
        let lines = objects.iter().filter(|(name, _)| is_data(name)).flat_map(|(_, body)| unpack(body));
        let archived: BTreeSet<_> = lines.map(|line| line["Item"].to_string()).collect();
        assert_eq!(archived, dump.iter().map(Value::to_string).collect(), "{layout}");

        let verdict = verify(&location, &table, Against::Table, |_, _| {}).await.expect("the archive is read");
        assert_eq!(verdict.findings, []);
        assert_eq!((verdict.items, verdict.files), (written.items, 5));
        assert_eq!(verdict.of_table.as_ref(), Some(&verdict.archived));
        let record: Record =
            serde_json::from_slice(&left.get(&id, "verified.json").await.expect("a record")).expect("a record");
        assert_eq!((record.items, record.files, &record.sums), (written.items, 5, &verdict.archived));
        assert_eq!(record.manifest_md5, md5(&objects["manifest-files.json"]));

        let again = write(&location, &table, None, |_, _| {}).await.expect("there is nothing to do");
        assert_eq!((again.files, again.found, again.items), (0, 5, written.items));
        let after = left.objects(&id).await;
        assert!(objects.iter().all(|(name, body)| after.get(name) == Some(body)), "an object was replaced");
        let alone = verify(&location, &table, Against::Record, |_, _| {}).await.expect("the archive is read");
        assert_eq!((alone.findings, alone.archived), (vec![], verdict.archived.clone()));
        assert_eq!(alone.verified_before, Some(record.verified_at));
        sums.push(verdict.archived.into_iter().filter(|(kind, _)| !OF_A_MOVE.contains(&&**kind)).collect());
    }
    assert_eq!(sums[0], sums[1], "both tables have the same items, in different spellings");
    assert!(sums[0].len() > 15, "{:?}", sums[0].keys());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_is_killed_anywhere_goes_on_and_doubles_nothing() {
    let left = Left::of(busy_shop().await);
    left.moving.enter(Phase::Next).await;
    let (table, location) = (left.table(Layout::V1), left.location("killed"));
    let (mut kills, mut found) = (0, 0);
    let written = loop {
        // Dropped in the middle of whatever it does.
        let work = write(&location, &table, Some(40), |_, _| {});
        match for_steps(2 + kills * 4, work).await {
            Some(written) => break written.expect("the archive is written"),
            None => kills += 1,
        }
        let verdict = verify(&location, &table, Against::Table, |_, _| {}).await;
        let there = left.bucket.list("old/tables/AWSDynamoDB/killed/data/").await.expect("a list").len();
        assert!(there >= found, "files have disappeared");
        found = there;
        if let Err(error) = verdict {
            assert!(format!("{error:#}").contains("not complete yet"), "{error:#}");
        }
    };
    assert!(kills > 2 && written.found > 0, "{kills} kills, {written:?}");
    assert_eq!(written.files + written.found, 40);
    let verdict = left.verify("killed").await;
    assert_eq!((verdict.findings, verdict.items), (vec![], left.moving.shop.dump().await.len() as u64));
}

/// Two operators at once: each file is written by one of them.
#[tokio::test(flavor = "multi_thread")]
async fn two_commands_at_once_write_one_archive() {
    let left = Left::of(busy_shop().await);
    left.moving.enter(Phase::Next).await;
    let (one, other) = tokio::join!(left.write("both", 20), left.write("both", 20));
    assert_eq!((one.files + other.files, one.items), (20, other.items));
    assert_eq!(left.verify("both").await.findings, []);
}

/// Items change no more, but DynamoDB deletes those that expire.
#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_expires_meanwhile_is_no_difference() {
    let left = Left::of(busy_shop().await);
    left.moving.enter(Phase::Next).await;
    let carts = left.moving.tables().await[0].keys().filter(|(_, sort)| sort == "cart").count();
    assert!(carts > 2, "{carts} carts");
    left.moving.shop.set("c#c1", "cart", "expiresAt", json!({ "N": "1700000000" })).await;
    left.write("expiring", 3).await;
    left.moving.shop.delete("c#c1", "cart").await;
    let verdict = left.verify("expiring").await;
    assert_eq!((verdict.findings, verdict.expiring), (vec![], 1));
    assert_eq!(left.verify_alone("expiring").await.findings, [], "the record counts the same items");
}

/// An export as DynamoDB makes it: files with other names, in other parts, one of them empty; a tag of an upload in parts;
/// and, in its first years, no type.
#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_dynamodb_itself_is_verified() {
    let left = Left::of(busy_shop().await);
    left.moving.enter(Phase::Next).await;
    let dump = left.moving.shop.dump().await;
    let id = "01693685827463-2d8752fd";
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
    let summary = json!({
        "version": "2020-06-30",
        "exportArn": format!("arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/{id}"),
        "startTime": "2020-11-04T07:28:34.028Z", "endTime": "2020-11-04T07:33:43.897Z",
        "tableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders",
        "tableId": "12345a12-abcd-123a-ab12-1234abc12345", "exportTime": "2020-11-04T07:28:34.028Z",
        "s3Bucket": BUCKET, "s3Prefix": "old/tables", "s3SseAlgorithm": "AES256", "s3SseKmsKeyId": null,
        "manifestFilesS3Key": format!("{folder}/manifest-files.json"), "billedSizeBytes": 0,
        "itemCount": dump.len(), "outputFormat": "DYNAMODB_JSON",
    });
    objects.insert("manifest-files.json".to_owned(), manifest.into_bytes());
    objects.insert("manifest-summary.json".to_owned(), summary.to_string().into_bytes());
    left.copy(id, &objects).await;
    let url = format!("s3://{BUCKET}/{folder}/manifest-summary.json");
    let location = Location::parse(&left.environment, &url).expect("a place");
    let verdict = verify(&location, &left.table(Layout::V1), Against::Table, |_, _| {}).await.expect("it is read");
    assert_eq!((verdict.findings, verdict.items), (vec![], dump.len() as u64));
    assert!(left.get(id, "verified.json").await.is_some());

    let mut incremental = summary.clone();
    incremental["exportType"] = json!("INCREMENTAL_EXPORT");
    objects.insert("manifest-summary.json".to_owned(), incremental.to_string().into_bytes());
    left.copy("01693685827463-2d8752fe", &objects).await;
    let refused =
        verify(&left.location("01693685827463-2d8752fe"), &left.table(Layout::V1), Against::Record, |_, _| {}).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("it does not have all items")));
    for url in ["s3://bucket", "https://bucket/x", "s3://bucket/no/such/folder"] {
        assert!(Location::parse(&left.environment, url).is_err(), "{url}");
    }
}

/// As `ImportTable` does: the lines of the archive are put into a new table, which is then equal to the archive.
#[tokio::test(flavor = "multi_thread")]
async fn the_items_of_an_archive_are_put_back_as_they_were() {
    let left = Left::of(busy_shop().await);
    left.moving.enter(Phase::Next).await;
    left.write("kept", 4).await;
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
    left.moving.shop.dynamodb("CreateTable", &create).await;
    let objects = left.objects("kept").await;
    let data = objects.iter().filter(|(name, _)| is_data(name));
    let lines: Vec<_> = data.flat_map(|(_, body)| unpack(body)).collect();
    for line in &lines {
        left.moving.shop.dynamodb("PutItem", &json!({ "TableName": "Restored", "Item": line["Item"] })).await;
    }
    assert_eq!(left.moving.shop.dump_of("Restored").await, left.moving.shop.dump().await);
    let variables = [("TABLE_NAME", "Restored"), ("TABLE_LAYOUT", "v1")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let restored = Table::open(&left.environment.clone().with(variables), UNITS).expect("a client");
    let verdict = verify(&left.location("kept"), &restored, Against::Table, |_, _| {}).await.expect("it is read");
    assert_eq!((verdict.findings, verdict.items), (vec![], lines.len() as u64));
    let record: Record =
        serde_json::from_slice(&left.get("kept", "verified.json").await.expect("a record")).expect("a record");
    assert!(record.table_arn.ends_with(":table/Restored"), "{}", record.table_arn);
}

/// After a deployment with the tables the other way round, a move back writes the first table again.
#[tokio::test(flavor = "multi_thread")]
async fn a_move_back_is_seen_from_the_first_table() {
    let moving = MovingShop::open().await;
    moving.enter(Phase::Next).await;
    let there = Operator::of(&moving);
    let turned = moving.shop.redeployed("v2-v1").await;
    let back = Operator::between(&turned, Layout::V2, Layout::V1);
    for (step, seen) in [(Phase::Both, Phase::NextLeads), (Phase::First, Phase::Next)] {
        back.step(step).await;
        assert_eq!(there.mover.state().await.expect("the state").phase(), seen);
    }
}
