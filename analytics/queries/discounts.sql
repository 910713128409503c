-- What each discount code took off, and what its orders brought. An order with several codes is in the rows of all of them.
SELECT
    order_codes.code,
    discount_codes.percent,
    orders.currency,
    count(*) AS orders,
    count(DISTINCT orders.customer_id) AS customers,
    sum(order_codes.discount) AS discount,
    sum(spent.revenue) AS revenue
FROM order_codes
INNER JOIN orders ON orders.order_id = order_codes.order_id
INNER JOIN (
    SELECT order_id, sum(revenue) AS revenue FROM sales GROUP BY order_id
) AS spent ON spent.order_id = orders.order_id
LEFT JOIN discount_codes ON discount_codes.code = order_codes.code
GROUP BY order_codes.code, discount_codes.percent, orders.currency
ORDER BY discount DESC, code, currency
