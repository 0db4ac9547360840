import ByteClubCore
import HTTPTypes

extension Endpoint {
    /// Everything that the server answers.
    static let all: [Endpoint] = [
        // Core API v1: files and folders.
        Endpoint([.get], "account/info", role: .viewer) { $0.accountInfo },
        Endpoint([.get], "metadata", tail: .path, role: .viewer, reading: .listing) { $0.metadata },
        Endpoint([.get, .head], "files", tail: .path, role: .viewer) { $0.downloadFile },
        Endpoint([.post], "files", tail: .path, role: .editor, body: .multipart) { $0.uploadForm },
        Endpoint([.put, .post], "files_put", tail: .path, role: .editor, body: .streamed) { $0.uploadFile },
        Endpoint([.put, .post], "chunked_upload", role: .editor, body: .streamed) { $0.uploadChunk },
        Endpoint([.post], "commit_chunked_upload", tail: .path, role: .editor) { $0.commitUpload },
        Endpoint([.get], "thumbnails", tail: .path, role: .viewer) { $0.thumbnail },
        Endpoint([.get, .post], "search", tail: .path, role: .viewer, reading: .search) { $0.search },
        Endpoint([.get], "revisions", tail: .path, role: .viewer, reading: .listing) { $0.revisions },
        Endpoint([.get, .post], "restore", tail: .path, role: .editor) { $0.restore },
        Endpoint([.post], "delta", role: .viewer, reading: .listing) { $0.delta },
        Endpoint([.post], "delta/latest_cursor", role: .viewer) { $0.latestCursor },
        Endpoint([.get], "longpoll_delta", countsItself: true) { $0.longpollDelta },
        Endpoint([.post], "fileops/copy", role: .editor) { $0.copy },
        Endpoint([.post], "fileops/create_folder", role: .editor) { $0.createFolder },
        Endpoint([.post], "fileops/delete", role: .editor) { $0.delete },
        Endpoint([.post], "fileops/move", role: .editor) { $0.move },

        // Core API v1: signing in. Later clients leave the version out before `oauth2/token`.
        Endpoint([.get, .post], "oauth/request_token") { $0.requestToken },
        Endpoint([.get, .post], "oauth/access_token") { $0.accessToken },
        Endpoint([.post], "oauth2/token", or: "/oauth2/token") { $0.token },
        Endpoint([.post], "oauth2/device_authorization") { $0.authorizeDevice },
        Endpoint([.post], "oauth2/token_from_oauth1", role: .viewer) { $0.tokenFromOAuth1 },
        Endpoint([.post], "disable_access_token", or: "unlink_access_token", role: .viewer) { $0.disableToken },

        // Core API v1: links. A shared one needs no account. A direct link to a file's bytes gives no more than a
        // viewer could send anyway; it expires within hours, and old programs show photos with nothing else.
        Endpoint([.get, .post], "shares", tail: .path, role: .editor) { $0.share },
        Endpoint([.get, .post], "media", tail: .path, role: .viewer) { $0.mediaLink },
        Endpoint([.get, .post], "copy_ref", tail: .path, role: .viewer) { $0.copyReference },
        Endpoint([.get, .head], "view", tail: .path, hidesTail: true) { $0.linkedFile },
        Endpoint([.get, .head, .post], "/s", tail: .path, hidesTail: true, reading: .listing) { $0.sharedPage },

        // The extension for synchronisation.
        Endpoint([.post], "sync/batch", role: .editor, body: .whole(SyncBatch.maximumBytes)) { $0.applyBatch },
        Endpoint([.get], "sync/changes", role: .viewer, reading: .listing) { $0.changes },
        Endpoint([.put], "sync/chunks", tail: .optionalItem, role: .editor, body: .whole(ContentHash.blockSize)) {
            $0.addChunk
        },
        Endpoint([.post], "sync/chunks", tail: .optionalItem, role: .editor, body: .streamed) { $0.addChunks },
        Endpoint([.post], "sync/chunks/need", role: .editor, body: .whole(ChunkList.maximumBytes)) { $0.neededChunks },
        Endpoint([.get], "sync/history", role: .viewer, reading: .listing) { $0.history },
        Endpoint([.get], "sync/digest", role: .viewer, reading: .listing) { $0.digest },
        // Each member's own links; owners see and take back all.
        Endpoint([.get], "sync/links", role: .viewer, reading: .listing) { $0.links },
        Endpoint([.post], "sync/links/revoke", role: .viewer) { $0.revokeLink },
        // The password with which a member signs in on the pages.
        Endpoint([.get], "sync/password", role: .viewer) { $0.hasPassword },
        Endpoint([.post], "sync/password", role: .viewer) { $0.setPassword },

        // Pictures for signed-in members, by content.
        Endpoint([.get, .head], "/photos", tail: .path, countsItself: true) { $0.photo },

        // Pages for people. Those of a sign-in have a second address, after the protocol's version.
        Endpoint([.get, .head], "/assets", tail: .path) { _ in { try WebFile.respond(to: $0) } },
        Endpoint([.get], "/manifest.webmanifest") { $0.site.manifest },
        Endpoint([.get], "/favicon.ico") { $0.site.icon },
        Endpoint(page: .get, "/login") { $0.signInForm },
        Endpoint(page: .post, "/login") { $0.signIn },
        Endpoint(memberPage: .post, "/logout") { $0.signOut },
        Endpoint(page: .get, "/invite", tail: .item, hidesTail: true) { $0.joinForm },
        Endpoint(page: .post, "/invite", tail: .item, hidesTail: true) { $0.join },
        Endpoint(page: .get, "/reset", tail: .item, hidesTail: true) { $0.resetForm },
        Endpoint(page: .post, "/reset", tail: .item, hidesTail: true) { $0.reset },
        Endpoint(memberPage: .get, "/") { $0.gallery },
        Endpoint(memberPage: .get, "/gallery", tail: .path) { $0.gallery },
        Endpoint(memberPage: .post, "/gallery", tail: .path) { $0.save },
        Endpoint(memberPage: .post, "/photo", tail: .path) { $0.changePhoto },
        Endpoint(memberPage: .post, "/share", tail: .path) { $0.shareItem },
        Endpoint(memberPage: .get, "/gallery/events") { $0.events },
        Endpoint(memberPage: .get, "/gallery/index") { $0.galleryIndex },
        Endpoint(memberPage: .get, "/gallery/items") { $0.galleryItems },
        Endpoint(memberPage: .get, "/albums", tail: .path) { $0.albums },
        Endpoint(memberPage: .get, "/add") { $0.addForm },
        Endpoint(memberPage: .post, "/gallery/upload", body: .multipart) { $0.upload },
        Endpoint(memberPage: .post, "/gallery/upload/piece", body: .streamed) { $0.uploadPiece },
        Endpoint(memberPage: .post, "/gallery/upload/commit") { $0.commitPieces },
        Endpoint(memberPage: .post, "/gallery/upload/known") { $0.knownContents },
        Endpoint(memberPage: .get, "/notes") { $0.notes },
        Endpoint(memberPage: .get, "/notes/new") { $0.newNoteForm },
        Endpoint(memberPage: .post, "/notes/new") { $0.addNote },
        Endpoint(memberPage: .get, "/notes/history", tail: .path) { $0.noteHistory },
        Endpoint(memberPage: .post, "/notes/preview") { $0.previewNote },
        Endpoint(memberPage: .get, "/notes/presence") { $0.notePresence },
        Endpoint(memberPage: .post, "/notes/presence") { $0.notePresence },
        Endpoint(memberPage: .post, "/notes/task") { $0.tickTask },
        Endpoint(memberPage: .post, "/notes/move") { $0.moveNote },
        Endpoint(memberPage: .post, "/notes/delete") { $0.deleteNote },
        Endpoint(memberPage: .post, "/notes/restore") { $0.restoreNote },
        Endpoint(memberPage: .get, "/activity") { $0.activity },
        Endpoint(memberPage: .get, "/activity/restore") { $0.restorationPreview },
        Endpoint(memberPage: .post, "/activity/restore") { $0.restoreClub },
        Endpoint(memberPage: .post, "/notes/story") { $0.addStory },
        Endpoint(memberPage: .get, "/account") { $0.account },
        Endpoint(memberPage: .post, "/welcome") { $0.dismissWelcome },
        Endpoint(memberPage: .post, "/leave") { $0.leave },
        Endpoint(memberPage: .post, "/revoke") { $0.revoke },
        Endpoint(memberPage: .post, "/links/revoke") { $0.takeBack },
        Endpoint(memberPage: .get, "/password") { $0.passwordForm },
        Endpoint(memberPage: .post, "/password") { $0.changePassword },
        Endpoint(memberPage: .get, "/members") { $0.members },
        Endpoint(memberPage: .post, "/members") { $0.changeMembers },
        Endpoint(memberPage: .get, "/oauth2/authorize", or: "oauth2/authorize") { $0.approveForm },
        Endpoint(memberPage: .post, "/oauth2/authorize", or: "oauth2/authorize") { $0.approve },
        Endpoint(memberPage: .get, "/device") { $0.deviceForm },
        Endpoint(memberPage: .post, "/device") { $0.device },
        Endpoint(memberPage: .get, "/oauth/authorize", or: "oauth/authorize") { $0.approveOAuth1Form },
        Endpoint(memberPage: .post, "/oauth/authorize", or: "oauth/authorize") { $0.approveOAuth1 },
    ]
}
