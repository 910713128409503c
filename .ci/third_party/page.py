"""The first order, by the commands of docs/deploying.md as they stand there."""

import http.cookiejar
import json
import re
import sys
import urllib.parse
import urllib.request

from third_party.deployment import LOGS
from third_party.tools import ROOT, Failed, environment, run

PASSWORD = "Aa1!first-order"
# The sample events have the page's customer and product, too.
OTHERS = [("espresso-cup", "page-cup"), ('"ada"', '"page"'), ("ada@example.com", "page@example.com")]

# Where MiniStack answers, and the browser.
HERE = """
eval "of_stack$(declare -f output | sed 's/^output//')"
output() {
    case $1 in
        ApiUrl) echo "$TILL_API_URL" ;;
        SignInUrl) echo "$TILL_SIGN_IN_URL" ;;
        *) of_stack "$1" ;;
    esac
}
"""


def blocks(heading):
    """The commands below this heading."""
    text = (ROOT / "docs" / "deploying.md").read_text()
    section = re.search(rf"^#+ {heading}$(.*?)^#", text, re.MULTILINE | re.DOTALL)
    if section is None:
        raise Failed(f"docs/deploying.md has no heading {heading}")
    return "".join(f"{line[4:]}\n" for line in section[1].splitlines() if line.startswith("    "))


def script(callback):
    headings = ("See that it works", "A token", "The first product", "The first order")
    commands = "".join(map(blocks, headings))
    for page, here in OTHERS:
        commands = commands.replace(page, here)
    # A person opens the address, and copies the code.
    for pattern, here in (
        (r"^CALLBACK=.*$", f"CALLBACK={callback}"),
        (r'^echo ("\$\(output SignInUrl\).*)$', r"ADDRESS=\1"),
        (r"^CODE=.*$", f'CODE=$("{sys.executable}" "{__file__}" "$ADDRESS")'),
    ):
        commands, count = re.subn(pattern, lambda found, here=here: found.expand(here), commands, flags=re.MULTILINE)
        if count != 1:
            raise Failed(f"docs/deploying.md has {count} lines like {pattern}")
    return f"set -e\n{blocks('Ask the stack for names')}{HERE}{commands}"


def first_order(cloud, stack, variables):
    """Signs a customer up, and runs the page's commands. The order's id."""
    users, name = cloud.client("cognito-idp"), OTHERS[-1][1]
    users.sign_up(ClientId=stack.outputs["ShopClientId"], Username=name, Password=PASSWORD,
                  UserAttributes=[{"Name": "email", "Value": name}])
    users.admin_confirm_sign_up(UserPoolId=stack.outputs["UserPoolId"], Username=name)
    file = LOGS / "page.sh"
    file.write_text(script(variables["TILL_SHOP_CALLBACK"]))
    tools = environment(**variables, PYTHONPATH=str(ROOT / ".ci"))
    said = run(["bash", file], "Mend the commands of docs/deploying.md.", tools, LOGS / "page.log")
    order = json.loads(said[said.rindex('{"orderId"'):])
    if order["status"] != "PENDING" or [line["productId"] for line in order["lines"]] != [OTHERS[0][1]]:
        raise Failed(f"the page's first order is {order}")
    return order["orderId"]


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: no server listens there."""

    def redirect_request(self, *_):
        return None


def code(address):
    """What a person does with the printed address: signs in, and copies the code."""
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    direct = urllib.request.ProxyHandler({})
    with urllib.request.build_opener(direct, cookies).open(address) as answer:
        page, at = answer.read().decode(), answer.geturl()
    fields = dict(re.findall(r'type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"', page))
    form = urllib.parse.urlencode({**fields, "username": OTHERS[-1][1], "password": PASSWORD}).encode()
    action = re.search(r'<form[^>]*action="([^"]*)"', page)[1].replace("&amp;", "&")
    try:
        urllib.request.build_opener(direct, cookies, Stay).open(urllib.parse.urljoin(at, action), form)
    except urllib.error.HTTPError as redirect:
        return urllib.parse.parse_qs(urllib.parse.urlparse(redirect.headers["location"]).query)["code"][0]
    raise Failed(f"{address} did not redirect after the sign-in")


if __name__ == "__main__":
    print(code(sys.argv[1]))
