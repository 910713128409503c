-- The headers of orders. Amounts are in minor units, such as cents.
SELECT
    json_extract_scalar(image, '$.orderId.S') AS order_id,
    json_extract_scalar(image, '$.customerId.S') AS customer_id,
    json_extract_scalar(image, '$.status.S') AS status,
    json_extract_scalar(image, '$.placedAt.S') AS placed_at,
    substr(json_extract_scalar(image, '$.placedAt.S'), 1, 10) AS day,
    json_extract_scalar(image, '$.total.M.currency.S') AS currency,
    CAST(json_extract_scalar(image, '$.subtotal.M.amount.N') AS bigint) AS subtotal,
    CAST(json_extract_scalar(image, '$.discount.M.amount.N') AS bigint) AS discount,
    CAST(json_extract_scalar(image, '$.total.M.amount.N') AS bigint) AS total
FROM items
WHERE kind = 'order'
