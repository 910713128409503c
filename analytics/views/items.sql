-- Each item of the table as the exports leave it. A line of a full export has the item. A line of an incremental export
-- has the item's keys, the time of its last write in the period, and the item, unless it was deleted. The full export is
-- older than all periods. If two exports are of the same period, their lines are equal.
SELECT kind, image
FROM (
    SELECT
        json_extract_scalar(image, '$.EntityType.S') AS kind,
        image,
        row_number() OVER (PARTITION BY pk, sk ORDER BY written DESC) AS place
    FROM (
        SELECT
            coalesce(json_extract(line, '$.Item'), json_extract(line, '$.NewImage')) AS image,
            coalesce(json_extract_scalar(line, '$.Item.PK.S'), json_extract_scalar(line, '$.Keys.PK.S')) AS pk,
            coalesce(json_extract_scalar(line, '$.Item.SK.S'), json_extract_scalar(line, '$.Keys.SK.S')) AS sk,
            coalesce(CAST(json_extract_scalar(line, '$.Metadata.WriteTimestampMicros.N') AS bigint), 0) AS written
        FROM lines
    ) AS versions
) AS ranked
WHERE place = 1 AND image IS NOT NULL
