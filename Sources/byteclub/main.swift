import ByteClubCLI

await ByteClub.main()
