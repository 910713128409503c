SELECT
    json_extract_scalar(image, '$.code.S') AS code,
    CAST(coalesce(json_extract_scalar(image, '$.percent.N'), json_extract_scalar(image, '$.percentOff.N')) AS bigint) AS percent
FROM items
WHERE kind = 'discount'
