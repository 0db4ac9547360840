import ByteClubCLI

ByteClub.main()
