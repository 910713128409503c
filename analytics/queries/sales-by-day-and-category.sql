-- Sales of each day, by the category that the product has now.
SELECT
    sales.day,
    coalesce(products.category, '') AS category,
    sales.currency,
    count(DISTINCT sales.order_id) AS orders,
    sum(sales.units) AS units,
    sum(sales.revenue) AS revenue
FROM sales
LEFT JOIN products ON products.product_id = sales.product_id
GROUP BY sales.day, coalesce(products.category, ''), sales.currency
ORDER BY day, category, currency
