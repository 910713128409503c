-- The codes of orders, with what each took off.
SELECT orders.order_id, orders.code, orders.discount - coalesce(others.amount, 0) AS discount
FROM orders
LEFT JOIN (
    SELECT order_id, CAST(sum(amount) AS bigint) AS amount FROM further_codes GROUP BY order_id
) AS others ON others.order_id = orders.order_id
WHERE orders.code IS NOT NULL
UNION ALL
SELECT order_id, code, amount AS discount FROM further_codes
