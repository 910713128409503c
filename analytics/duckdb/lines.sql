-- Each line of each data file of the exports in a directory.
SELECT CAST(json AS varchar) AS line
FROM read_json_objects(getvariable('files'), format = 'newline_delimited')
