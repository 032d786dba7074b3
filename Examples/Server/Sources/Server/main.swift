import ArticleServer
import Foundation
import Logging
import ServiceLifecycle

// usage: Server ORIGIN [DIRECTORY [PORT]], for example: Server http://127.0.0.1:8081
let arguments = CommandLine.arguments.dropFirst()
guard let origin = arguments.first else {
  FileHandle.standardError.write(Data("usage: Server ORIGIN [DIRECTORY [PORT]]\n".utf8))
  exit(2)
}
var settings = ServerSettings(directory: arguments.dropFirst().first ?? "articles", origin: origin)
settings.port = arguments.dropFirst(2).first.flatMap(Int.init) ?? 8080

let logger = Logger(label: "articles")
let server = try ArticleServer(settings, logger: logger)
let group = ServiceGroup(
  services: server.services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
try await group.run()
