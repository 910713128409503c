SELECT
    json_extract_scalar(image, '$.returnId.S') AS return_id,
    json_extract_scalar(image, '$.orderId.S') AS order_id,
    json_extract_scalar(image, '$.status.S') AS status,
    json_extract_scalar(image, '$.requestedAt.S') AS requested_at,
    json_extract_scalar(element, '$.M.productId.S') AS product_id,
    CAST(json_extract_scalar(element, '$.M.quantity.N') AS bigint) AS units
FROM elements
WHERE kind = 'return'
