extension PlannerRow {
    /// Entries that are excluded, or cannot be read, named or scanned.
    static let held: [PlannerRow] = [
        PlannerRow(
            "nothing is asked about what is excluded", file("a.md").editedOnDisk("2").excluded(), plan: "nothing"),
        PlannerRow(
            "nothing is decided about what is frozen",
            file("a.md").editedOnServer("2").frozen(),
            plan: "a.md is frozen"),
        PlannerRow(
            "a frozen folder freezes all that is in it",
            folder("p").frozen(),
            folder("p/in"),
            file("p/in/a.md").editedOnDisk("2"),
            file("p/new.md").newOnServer(),
            plan: "p/in/a.md is frozen by p", "p/new.md is frozen by p"),
        PlannerRow(
            "an excluded folder keeps all that is in it from being decided about",
            folder("p").excluded(),
            file("p/new.md").newOnDisk(),
            plan: "p/new.md is frozen by p"),
        PlannerRow(
            "nothing is moved into a frozen folder",
            folder("p").frozen(),
            file("a.md").movedOnServer(to: "p/a.md"),
            plan: "a.md is frozen by p"),
        PlannerRow(
            "nothing is moved out of a frozen folder, and no content comes either",
            folder("p").frozen(),
            file("p/a.md").movedOnServer(to: "a.md").editedOnServer("2"),
            plan: "p/a.md is frozen by p"),
        PlannerRow(
            "a folder that lies in a frozen one on either side is frozen with all that is in it",
            folder("p").frozen(),
            folder("q").movedOnServer(to: "p/q"),
            file("q/a.md").newOnDisk(),
            plan: "q is frozen by p", "q/a.md is frozen by p"),
        PlannerRow(
            "the rest goes on beside what is frozen",
            file("a.md").deletedOnServer().frozen(),
            file("b.md").deletedOnServer(),
            plan: "b.md: trash", "a.md is frozen",
            because: "b.md: deleted-on-server"),
    ]
}
