-- The lines of orders that are not cancelled, less the units that were cancelled or returned. `revenue` is after the
-- discount, and `gross` before.
SELECT
    orders.order_id, orders.customer_id, orders.day, orders.currency,
    order_lines.product_id, order_lines.name,
    order_lines.quantity AS ordered,
    order_lines.quantity - coalesce(credits.units, 0) AS units,
    order_lines.amount - coalesce(credits.gross, 0) AS gross,
    order_lines.net_amount - coalesce(credits.amount, 0) AS revenue
FROM order_lines
INNER JOIN orders ON orders.order_id = order_lines.order_id
LEFT JOIN credits ON credits.order_id = order_lines.order_id AND credits.product_id = order_lines.product_id
WHERE orders.status <> 'CANCELLED'
