-- The units of an order's line that were cancelled or returned, and the money for them.
SELECT
    json_extract_scalar(image, '$.orderId.S') AS order_id,
    json_extract_scalar(element, '$.M.productId.S') AS product_id,
    CAST(json_extract_scalar(element, '$.M.units.N') AS bigint) AS units,
    CAST(json_extract_scalar(element, '$.M.gross.N') AS bigint) AS gross,
    CAST(json_extract_scalar(element, '$.M.amount.N') AS bigint) AS amount
FROM elements
WHERE kind = 'order'
