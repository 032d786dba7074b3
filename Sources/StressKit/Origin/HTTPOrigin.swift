import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An origin across HTTP, asked through URLSession.
struct HTTPOrigin: Origin {
  /// Who stamps the values.
  enum Stamping: Sendable {
    /// The server does, which is this process's own.
    case byServer
    /// Whatever comes back is stamped here: the server knows nothing of stamps.
    case onArrival(OriginBehaviour)
  }

  private let base: URL
  private let session: URLSession
  private let urls: [URL]
  private let stamping: Stamping

  /// - Parameter base: The address that key names are appended to.
  init(base: URL, keys: KeySpace, stamping: Stamping, connections: Int) throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpMaximumConnectionsPerHost = connections
    configuration.timeoutIntervalForRequest = 30
    self.base = base
    session = URLSession(configuration: configuration)
    urls = try keys.names.map { try HTTPOrigin.url(of: $0, below: base) }
    self.stamping = stamping
  }

  func fetch(_ key: Int) async throws -> [UInt8] {
    let (data, response) = try await session.answer(to: URLRequest(url: urls[key]))
    guard let response = response as? HTTPURLResponse else { throw OriginError.status(0) }
    guard response.statusCode == 200 else { throw OriginError.status(response.statusCode) }
    switch stamping {
    case .byServer:
      return Array(data)
    case .onArrival(let behaviour):
      return behaviour.value(of: key, payload: Array(data))
    }
  }

  /// Asks for one key, and throws if the server does not answer. Any answer will do, also a refusal.
  func requireAnswer() async throws {
    guard let url = urls.first else { return }
    do {
      _ = try await session.answer(to: URLRequest(url: url, timeoutInterval: HTTPOrigin.patience))
    } catch {
      throw CommandFailure("the origin \(base) does not answer: \(HTTPOrigin.reason(of: error))", status: .badInput)
    }
  }

  /// How long the first answer may take, in seconds.
  private static let patience = 10.0

  /// The reason why a request has failed, as a sentence.
  static func reason(of error: any Error) -> String {
    guard let error = error as? URLError else { return "\(error)" }
    return switch error.code {
    case .cannotConnectToHost: "the connection was refused, or the host cannot be reached"
    case .cannotFindHost, .dnsLookupFailed: "the host is not known"
    case .notConnectedToInternet: "there is no network"
    case .networkConnectionLost: "the connection was lost"
    case .timedOut: "it took too long"
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot:
      "a secure connection was not possible"
    default: error.localizedDescription
    }
  }

  /// Ends the connections.
  func finish() {
    session.invalidateAndCancel()
  }

  private static func url(of name: String, below base: URL) throws -> URL {
    let parts = name.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    // What a path may hold, less what would end it, and less what a server may read as something else.
    let path = parts[0].addingPercentEncoding(
      withAllowedCharacters: .urlPathAllowed.subtracting(.init(charactersIn: "+;")))
    let text = (path ?? "") + (parts.count > 1 ? "?" + parts[1] : "")
    let root = base.absoluteString.hasSuffix("/") ? base.absoluteString : base.absoluteString + "/"
    guard let url = URL(string: root + text) else {
      throw CommandFailure("the key '\(name)' makes no address below \(base)", status: .badInput)
    }
    return url
  }
}
