import ArticleServer
import Foundation
import Logging
import ServiceLifecycle

// usage: Server ORIGIN [DIRECTORY [PORT]], for example: Server http://127.0.0.1:8081
guard let settings = ServerSettings(arguments: Array(CommandLine.arguments.dropFirst())) else {
  let usage = "usage: Server ORIGIN [DIRECTORY [PORT]]; PORT is a number from 0 to 65535, 8080 by default\n"
  FileHandle.standardError.write(Data(usage.utf8))
  exit(2)
}
let logger = Logger(label: "articles")
let server = try ArticleServer(settings, logger: logger)
let group = ServiceGroup(
  services: server.services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
try await group.run()
