import ByteClubCLI

ByteClub.prepare()
await ByteClub.main()
