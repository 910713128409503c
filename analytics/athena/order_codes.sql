-- The codes of orders, with what each took off. They are a list inside the header.
SELECT
    json_extract_scalar(image, '$.orderId.S') AS order_id,
    json_extract_scalar(element, '$.M.code.S') AS code,
    CAST(json_extract_scalar(element, '$.M.amount.M.amount.N') AS bigint) AS discount
FROM items CROSS JOIN UNNEST(CAST(json_extract(image, '$.codes.L') AS ARRAY(JSON))) AS list (element)
WHERE kind = 'order'
