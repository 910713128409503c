-- Customers with at least two orders that are not cancelled, and what they spent, for each currency.
SELECT
    customer_id,
    max(customer_orders) AS orders,
    currency,
    sum(revenue) AS spent,
    min(day) AS first_day,
    max(day) AS last_day
FROM (
    SELECT orders.customer_id, orders.currency, orders.day, orders.order_id, counted.customer_orders
    FROM orders
    INNER JOIN (
        SELECT customer_id, count(*) AS customer_orders
        FROM orders
        WHERE status <> 'CANCELLED'
        GROUP BY customer_id
    ) AS counted ON counted.customer_id = orders.customer_id
    WHERE orders.status <> 'CANCELLED' AND counted.customer_orders >= 2
) AS repeated
INNER JOIN (
    SELECT order_id, sum(revenue) AS revenue FROM sales GROUP BY order_id
) AS spent ON spent.order_id = repeated.order_id
GROUP BY customer_id, currency
ORDER BY spent DESC, customer_id, currency
