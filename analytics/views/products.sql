SELECT
    json_extract_scalar(image, '$.productId.S') AS product_id,
    json_extract_scalar(image, '$.name.S') AS name,
    json_extract_scalar(image, '$.category.S') AS category,
    json_extract_scalar(image, '$.price.M.currency.S') AS currency,
    CAST(json_extract_scalar(image, '$.price.M.amount.N') AS bigint) AS price
FROM items
WHERE kind = 'product'
