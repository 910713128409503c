-- What each discount code took off, and what its orders brought.
SELECT
    orders.code,
    discount_codes.percent,
    orders.currency,
    count(*) AS orders,
    count(DISTINCT orders.customer_id) AS customers,
    sum(orders.discount) AS discount,
    sum(spent.revenue) AS revenue
FROM orders
INNER JOIN (
    SELECT order_id, sum(revenue) AS revenue FROM sales GROUP BY order_id
) AS spent ON spent.order_id = orders.order_id
LEFT JOIN discount_codes ON discount_codes.code = orders.code
WHERE orders.code IS NOT NULL
GROUP BY orders.code, discount_codes.percent, orders.currency
ORDER BY discount DESC, code, currency
