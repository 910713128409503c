-- The units that can be sold. The stock of a product may be divided into cells.
SELECT
    json_extract_scalar(image, '$.productId.S') AS product_id,
    sum(CAST(json_extract_scalar(image, '$.available.N') AS bigint)) AS available
FROM items
WHERE kind IN ('stock', 'stockCell')
GROUP BY json_extract_scalar(image, '$.productId.S')
