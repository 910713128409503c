SELECT
    json_extract_scalar(image, '$.code.S') AS code,
    CAST(json_extract_scalar(image, '$.percent.N') AS bigint) AS percent
FROM items
WHERE kind = 'discount'
