import Mustache

/// The pages' templates; every value is escaped.
enum Templates {
    /// A page, from its template and values.
    static func render(_ name: String, _ values: [String: Any]) -> String {
        library.render(values, withTemplate: name) ?? ""
    }

    private static let library: MustacheLibrary = {
        var templates: [String: MustacheTemplate] = [:]
        for (name, text) in sources { templates[name] = try? HTMLText.template(text) }
        return MustacheLibrary(templates: templates)
    }()

    /// The names of the templates, and their texts.
    static let sources = [
        "page": """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{{$title}}ByteClub{{/title}}</title>
        <link rel="stylesheet" href="/style.css">
        </head>
        <body>
        <header><a href="/">ByteClub</a>{{#member}}<form method="post" action="/logout">\
        <input type="hidden" name="csrf" value="{{csrf}}"><bdi>{{member}}</bdi> \
        <button class="quiet">Sign out</button></form>{{/member}}</header>
        <main>
        {{$main}}{{/main}}
        </main>
        </body>
        </html>
        """,
        "sign-in": """
        {{<page}}{{$title}}Sign in to ByteClub{{/title}}{{$main}}<h1>Sign in</h1>
        {{#message}}<p class="problem" role="alert">{{message}}</p>{{/message}}
        <form method="post" action="/login">
        <input type="hidden" name="csrf" value="{{csrf}}"><input type="hidden" name="next" value="{{next}}">
        <label>Name <input name="name" value="{{name}}" autocomplete="username" required autofocus></label>
        <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
        <button>Sign in</button>
        </form>
        <p class="hint">No password yet? Ask the club's owner for an invitation, or run \
        <code>byteclub members password NAME</code> on the server's machine.</p>{{/main}}{{/page}}
        """,
        "approve": """
        {{<page}}{{$title}}Let {{app}} in?{{/title}}{{$main}}<h1>Let <bdi>{{app}}</bdi> in?</h1>
        <p><strong><bdi>{{app}}</bdi></strong>{{#device}} on <strong><bdi>{{device}}</bdi></strong>{{/device}} will be able to read \
        {{#mayWrite}}and change {{/mayWrite}}the club's notes and photos in your name, until you shut it out again.</p>
        <form method="post" action="{{action}}">
        <input type="hidden" name="csrf" value="{{csrf}}">
        <button name="decision" value="allow">Allow</button>
        <button name="decision" value="refuse" class="quiet">Refuse</button>
        </form>{{/main}}{{/page}}
        """,
        "code": """
        {{<page}}{{$title}}Your code{{/title}}{{$main}}<h1>Your code</h1>
        <p>Copy this code into <bdi>{{app}}</bdi>. It works once, for ten minutes.</p>
        <p><code class="code">{{code}}</code></p>{{/main}}{{/page}}
        """,
        "done": """
        {{<page}}{{$title}}Done{{/title}}{{$main}}{{#isAllowed}}<h1><bdi>{{app}}</bdi> has access</h1>
        <p>You can close this page and go back to <bdi>{{app}}</bdi>.</p>{{/isAllowed}}\
        {{^isAllowed}}<h1><bdi>{{app}}</bdi> has no access</h1><p>You can close this page.</p>{{/isAllowed}}{{/main}}{{/page}}
        """,
        "account": """
        {{<page}}{{$title}}Your account{{/title}}{{$main}}<h1><bdi>{{member}}</bdi></h1>
        <p>You are {{role}} of this club. <a href="/password">Change password</a>\
        {{#isOwner}} · <a href="/members">Members</a>{{/isOwner}}</p>
        <h2>What has access in your name</h2>
        {{^hasDevices}}<p>Nothing yet.</p>{{/hasDevices}}
        {{#hasDevices}}<table><tr><th>Device</th><th>Since</th><th>Last seen</th><th></th></tr>
        {{#devices}}<tr><td><bdi>{{title}}</bdi></td><td>{{created}}</td><td>{{seen}}</td><td>\
        <form method="post" action="/revoke"><input type="hidden" name="csrf" value="{{csrf}}">\
        <input type="hidden" name="device" value="{{id}}"><button class="quiet">Shut out</button></form></td></tr>
        {{/devices}}</table>{{/hasDevices}}
        {{#links}}<h2>{{title}}</h2>
        <p>Whoever has one of these links needs no account.</p>
        <table><tr><th>Leads to</th><th>Made</th><th>Ends</th><th></th></tr>
        {{#rows}}<tr><td><a href="{{url}}"><bdi>{{path}}</bdi></a></td><td>{{created}}{{#isOwner}} by \
        <bdi>{{maker}}</bdi>{{/isOwner}}</td><td>{{expires}}</td><td><form method="post" action="/links/revoke">\
        <input type="hidden" name="csrf" value="{{csrf}}"><input type="hidden" name="link" value="{{id}}">\
        <button class="quiet">Take back</button></form></td></tr>
        {{/rows}}</table>
        {{#isCut}}<p class="hint">These are the newest; <code>byteclub share --list</code> shows all.</p>{{/isCut}}
        {{/links}}{{/main}}{{/page}}
        """,
        "password": """
        {{<page}}{{$title}}Change password{{/title}}{{$main}}<h1>Change password</h1>
        {{#message}}<p class="problem" role="alert">{{message}}</p>{{/message}}
        <form method="post" action="/password">
        <input type="hidden" name="csrf" value="{{csrf}}">
        <label>Old password <input name="password" type="password" autocomplete="current-password" required></label>
        <label>New password <input name="new" type="password" autocomplete="new-password" minlength="8" required></label>
        <p>All other browsers are signed out.</p>
        {{#hasDevices}}<p>What has access in your name ({{devices}}, your mirrors among them) stays signed in: it has keys of \
        its own. Shut it out if somebody else may have had your password.</p>
        <label><input type="checkbox" name="devices" value="out"> Shut out all devices, too</label>{{/hasDevices}}
        <button>Change</button>
        </form>{{/main}}{{/page}}
        """,
        "members": """
        {{<page}}{{$title}}Members{{/title}}{{$main}}<h1>Members</h1>
        {{#link}}<p class="notice">Send this link to one person. It works once, for {{days}} days:<br>\
        <code class="code">{{link}}</code></p>{{/link}}
        <table><tr><th>Name</th><th>Role</th><th>Since</th><th></th></tr>
        {{#members}}<tr><td><bdi>{{name}}</bdi></td><td>{{role}}</td><td>{{created}}</td><td>{{#isOther}}\
        <form method="post" action="/members"><input type="hidden" name="csrf" value="{{csrf}}">\
        <input type="hidden" name="name" value="{{name}}">\
        <select name="role" aria-label="Role">{{#roles}}<option{{#isCurrent}} selected{{/isCurrent}}>{{word}}</option>\
            {{/roles}}</select>\
        <button class="quiet" name="action" value="role">Set role</button>\
        <button class="quiet" name="action" value="remove">Remove</button></form>{{/isOther}}</td></tr>
        {{/members}}</table>
        <h2>Invite somebody</h2>
        <form method="post" action="/members"><input type="hidden" name="csrf" value="{{csrf}}">
        <label>Role <select name="role"><option>editor</option><option>viewer</option><option>owner</option></select></label>
        <button name="action" value="invite">Make a link</button></form>{{/main}}{{/page}}
        """,
        "join": """
        {{<page}}{{$title}}Join the club{{/title}}{{$main}}<h1>Join the club</h1>
        <p>You are invited as {{role}}. Choose a name and a password.</p>
        <form method="post" action="{{path}}">
        <input type="hidden" name="csrf" value="{{csrf}}">
        <label>Name <input name="name" autocomplete="username" required autofocus></label>
        <label>Password <input name="password" type="password" autocomplete="new-password" minlength="8" required></label>
        <button>Join</button>
        </form>{{/main}}{{/page}}
        """,
        "error": """
        {{<page}}{{$title}}{{title}}{{/title}}{{$main}}<h1>{{title}}</h1>
        <p class="problem" role="alert">{{message}}</p>{{/main}}{{/page}}
        """,
    ]

    /// The look of all pages, in the browser's own light or dark.
    static let style = """
        :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); --accent: #0b6e4f; }
        * { box-sizing: border-box; }
        body { margin: 0; font: 17px/1.5 system-ui, sans-serif; }
        header { display: flex; justify-content: space-between; align-items: center; padding: 0.8rem 1.2rem;
          border-bottom: 1px solid var(--line); }
        header a { font-weight: 700; text-decoration: none; color: inherit; }
        header form { display: flex; gap: 0.8rem; align-items: center; margin: 0; }
        main { max-width: 42rem; margin: 2rem auto; padding: 0 1.2rem; }
        h1 { line-height: 1.2; }
        label { display: block; margin: 0 0 1rem; }
        label input, label select { display: block; width: 100%; margin-top: 0.2rem; }
        label input[type=checkbox] { display: inline; width: auto; }
        input, select, button { font: inherit; padding: 0.5rem 0.7rem; border: 1px solid var(--line); border-radius: 0.4rem; }
        button { background: var(--accent); color: white; border-color: var(--accent); cursor: pointer; }
        button.quiet { background: none; color: inherit; border-color: var(--line); padding: 0.25rem 0.6rem; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; padding: 0.4rem 0.6rem 0.4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
        td form { display: flex; flex-wrap: wrap; gap: 0.3rem; margin: 0; }
        .problem { border-left: 4px solid #b3261e; padding-left: 0.8rem; }
        .notice { border-left: 4px solid var(--accent); padding-left: 0.8rem; }
        .code { font-size: 1.1em; overflow-wrap: anywhere; user-select: all; }
        .hint { opacity: 0.75; font-size: 0.9em; }
        """
}
