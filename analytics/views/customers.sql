SELECT
    json_extract_scalar(image, '$.customerId.S') AS customer_id,
    json_extract_scalar(image, '$.name.S') AS name,
    json_extract_scalar(image, '$.email.S') AS email,
    json_extract_scalar(image, '$.createdAt.S') AS created_at
FROM items
WHERE kind = 'customer'
