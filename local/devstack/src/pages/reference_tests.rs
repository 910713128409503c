use serde_json::json;

use super::*;

#[test]
fn the_reference_shows_operations_schemas_and_what_they_need() {
    let document = json!({
        "info": { "title": "Notes", "version": "1", "description": "All `notes`.\n\nAnd <more>." },
        "paths": { "/notes/{noteId}": {
            "parameters": [{ "$ref": "#/components/parameters/NoteId" }],
            "get": {
                "tags": ["notes"], "summary": "Reads a note", "security": [{ "token": ["notes/read"] }],
                "responses": { "200": { "description": "The note.", "content": { "application/json": {
                    "schema": { "$ref": "#/components/schemas/Note" }, "example": { "text": "Hello" },
                } } } },
            },
        } },
        "webhooks": { "NoteWritten": { "post": { "summary": "A note was written" } } },
        "components": {
            "parameters": { "NoteId": {
                "name": "noteId", "in": "path", "required": true, "schema": { "type": "string", "maxLength": 36 },
            } },
            "schemas": { "Note": { "type": "object", "required": ["text"], "properties": {
                "text": { "type": "string" }, "tags": { "type": ["array", "null"], "items": { "x-extensible-enum": ["a", "b"] } },
            } } },
        },
    });
    let page = Api(&document).page("Notes").into_string();
    for expected in [
        "<p>All <code>notes</code>.</p><p>And &lt;more&gt;.</p>",
        "<a href=\"#get-notes--noteId-\">",
        "<h3 id=\"get-notes--noteId-\"><code><span class=\"method\">GET</span> /notes/{noteId}</code></h3>",
        "Needs a token with the scope notes/read.",
        "<td><code>noteId</code> (required)</td>",
        "<span class=\"quiet\">maxLength <code>36</code></span>",
        "<a href=\"#schema-Note\">Note</a>",
        "<h3 id=\"schema-Note\">Note</h3>",
        "<td><code>text</code> (required)</td>",
        "array or null of  <code>a</code>, <code>b</code> or others",
        "A note was written",
        "Hello",
    ] {
        assert!(page.contains(expected), "{expected} is not in {page}");
    }
}
