-- Products in stock, those with the most money in stock and the fewest sales first. The last 30 days end with the newest
-- order.
SELECT
    products.product_id,
    products.category,
    stocks.available,
    products.currency,
    stocks.available * products.price AS stock_value,
    coalesce(sold.recent, 0) AS sold_in_30_days,
    coalesce(sold.units, 0) AS sold,
    sold.last_day
FROM products
INNER JOIN stocks ON stocks.product_id = products.product_id
LEFT JOIN (
    SELECT
        product_id,
        sum(units) AS units,
        sum(CASE WHEN CAST(day AS date) > newest - INTERVAL '30' DAY THEN units ELSE 0 END) AS recent,
        max(day) AS last_day
    FROM sales CROSS JOIN (SELECT CAST(max(day) AS date) AS newest FROM orders) AS ends
    GROUP BY product_id
) AS sold ON sold.product_id = products.product_id
WHERE stocks.available > 0
ORDER BY sold_in_30_days, stock_value DESC, product_id
