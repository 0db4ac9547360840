/// All that a server keeps of a club: one consistent, durable whole.
///
/// Who needs a part of it asks for that part: the folder's pages for ``FolderStore``, a sign-in for ``SessionStore``.
/// All calls of all parts may run at once. They throw ``StorageError`` for what the disk or the database does, besides
/// what each names; what has expired counts as unknown.
typealias ClubStore = FolderStore & SearchStore & UploadStore & RoomStore & MediaInfoStore & GalleryStore
    & LinkStore & AccountStore & MaintenanceStore

/// Members, the programs that they let in, and what signing in needs; durable when a call returns.
typealias AccountStore = MemberStore & AppStore & GrantStore & SessionStore & StandingStore & AddressStore
