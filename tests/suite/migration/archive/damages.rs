//! Damaged archives.

use key_schema::entity::Phase;
use local::archive::Finding;

use super::super::copying::busy_shop;
use super::{Left, a_file, key, md5, pack, unpack};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn every_damage_is_found_and_named() {
    let left = Left::of(busy_shop().await);
    left.migrating.enter(Phase::Next).await;
    left.export("whole", left.migrating.shop.table()).await;
    assert_eq!(left.verify("whole").await.findings, []);
    let whole = left.objects("whole").await;
    let file = a_file(&whole);
    let full_name = |id: &str, name: &str| format!("old/tables/AWSDynamoDB/{id}/{name}");
    let lines = unpack(&whole[&file]);
    let (partition, sort) = key(&lines[1]);

    // A flipped bit.
    let mut damaged = whole.clone();
    let middle = damaged[&file].len() / 2;
    damaged.get_mut(&file).expect("it is there")[middle] ^= 1;
    left.copy("flipped", &damaged).await;
    assert!(left.verify("flipped").await.findings.contains(&Finding::Changed(full_name("flipped", &file))));
    assert!(left.verify_alone("flipped").await.findings.contains(&Finding::Changed(full_name("flipped", &file))));

    // A missing file.
    let mut damaged = whole.clone();
    damaged.remove(&file);
    left.copy("missing", &damaged).await;
    let findings = left.verify("missing").await.findings;
    assert!(findings.contains(&Finding::MissingFile(full_name("missing", &file))), "{findings:?}");
    assert!(findings.contains(&Finding::Missing(partition.clone(), sort.clone())), "{findings:?}");

    // A file more, which DynamoDB would import.
    let mut damaged = whole.clone();
    damaged.insert("data/zz.json.gz".to_owned(), pack(&lines[..1]));
    left.copy("more", &damaged).await;
    assert_eq!(left.verify("more").await.findings, [Finding::AdditionalFile(full_name("more", "data/zz.json.gz"))]);

    // An item that is missing, and one that is another; the manifest is right about the file.
    let mut changed = lines.clone();
    changed.remove(1);
    changed[0]["Item"]["note"] = json!({ "S": "new" });
    let (other_partition, other_sort) = key(&lines[0]);
    left.copy("fewer", &with_file(&whole, &file, &changed)).await;
    let expected = BTreeSet::from([
        Finding::Missing(partition.clone(), sort.clone()),
        Finding::Different(other_partition, other_sort),
    ]);
    assert_eq!(left.verify("fewer").await.findings.into_iter().collect::<BTreeSet<_>>(), expected);
    assert_eq!(
        left.get("fewer", "verified.json").await.map(|record| record.len()),
        whole.get("verified.json").map(Vec::len),
        "no new record"
    );

    // An item that was added, and one that is there twice.
    let mut changed = lines.clone();
    changed
        .push(json!({ "Item": { "PK": { "S": "p#new" }, "SK": { "S": "p#new" }, "EntityType": { "S": "product" } } }));
    changed.push(lines[1].clone());
    left.copy("added", &with_file(&whole, &file, &changed)).await;
    let expected = BTreeSet::from([
        Finding::Additional("p#new".to_owned(), "p#new".to_owned()),
        Finding::Repeated(partition.clone(), sort.clone()),
    ]);
    assert_eq!(left.verify("added").await.findings.into_iter().collect::<BTreeSet<_>>(), expected);
    // Without the table, the record of the verification before tells the kinds.
    let kinds: BTreeSet<_> = left.verify_alone("added").await.findings.into_iter().collect();
    assert!(kinds.contains(&Finding::OtherSum("product".to_owned())), "{kinds:?}");
    assert!(kinds.contains(&Finding::OtherList("manifest-files.json".to_owned())), "{kinds:?}");

    // A manifest that was changed alone.
    let mut damaged = whole.clone();
    let summary = String::from_utf8(damaged["manifest-summary.json"].clone()).expect("a text");
    damaged
        .insert("manifest-summary.json".to_owned(), summary.replace("\"itemCount\":", "\"itemCount\":1").into_bytes());
    left.copy("summary", &damaged).await;
    let findings = left.verify("summary").await.findings;
    assert!(findings.contains(&Finding::Changed("manifest-summary.json".to_owned())), "{findings:?}");
    assert!(
        matches!(&findings[..], [Finding::Changed(_), Finding::OtherCount(name, ..)] if name == "manifest-summary.json"),
        "{findings:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_count_and_a_file_without_items_are_named() {
    let left = Left::of(busy_shop().await);
    left.migrating.enter(Phase::Next).await;
    left.export("whole", left.migrating.shop.table()).await;
    let whole = left.objects("whole").await;
    let file = a_file(&whole);
    let full_name = |id: &str| format!("old/tables/AWSDynamoDB/{id}/{file}");
    let lines = unpack(&whole[&file]);

    left.copy("count", &with_packed(&whole, &file, pack(&lines), lines.len() + 1)).await;
    let (expected, found) = (lines.len() as u64 + 1, lines.len() as u64);
    assert_eq!(left.verify("count").await.findings, [Finding::OtherCount(full_name("count"), expected, found)]);

    left.copy("garbage", &with_packed(&whole, &file, b"no items".to_vec(), lines.len())).await;
    let findings = left.verify("garbage").await.findings;
    let is_named = |finding: &Finding| matches!(finding, Finding::Unreadable(key, _) if *key == full_name("garbage"));
    assert!(findings.iter().any(is_named), "{findings:?}");
    assert!(left.get("garbage", "verified.json").await.is_none(), "no record");
}

/// An archive with another content of one data file, and manifests that are right about it.
fn with_file(whole: &BTreeMap<String, Vec<u8>>, file: &str, lines: &[Value]) -> BTreeMap<String, Vec<u8>> {
    with_packed(whole, file, pack(lines), lines.len())
}

/// The same with a file that is packed already, and the number of items that the manifests say.
fn with_packed(
    whole: &BTreeMap<String, Vec<u8>>,
    file: &str,
    packed: Vec<u8>,
    count: usize,
) -> BTreeMap<String, Vec<u8>> {
    let mut objects = whole.clone();
    let manifest = String::from_utf8(objects["manifest-files.json"].clone()).expect("a text");
    let (mut total, mut changed) = (0, String::new());
    for line in manifest.lines() {
        let mut entry: Value = serde_json::from_str(line).expect("a line");
        if entry["dataFileS3Key"].as_str().expect("a key").ends_with(file) {
            entry["itemCount"] = json!(count);
            entry["md5Checksum"] = json!(md5(&packed));
        }
        total += entry["itemCount"].as_u64().expect("a number");
        changed.extend([entry.to_string(), "\n".to_owned()]);
    }
    let mut summary: Value = serde_json::from_slice(&objects["manifest-summary.json"]).expect("a summary");
    summary["itemCount"] = json!(total);
    let summary = summary.to_string();
    objects.insert("manifest-files.md5".to_owned(), md5(changed.as_bytes()).into_bytes());
    objects.insert("manifest-summary.md5".to_owned(), md5(summary.as_bytes()).into_bytes());
    objects.insert("manifest-files.json".to_owned(), changed.into_bytes());
    objects.insert("manifest-summary.json".to_owned(), summary.into_bytes());
    objects.insert(file.to_owned(), packed);
    objects
}
