import ByteClubCore

extension SyncConfiguration {
    /// The mirror's database.
    var databasePath: String { stateDirectory + "/" + MirrorStore.fileName }
}
