-- Each line of each data file. Manifests are in the same folder.
SELECT line
FROM export_lines
WHERE "$path" LIKE '%/data/%'
