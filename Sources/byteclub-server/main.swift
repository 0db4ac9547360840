import ByteClubServer

await ByteClubServer.main()
