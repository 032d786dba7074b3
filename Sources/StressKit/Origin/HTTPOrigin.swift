import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An origin that fetches values over HTTP with URLSession.
struct HTTPOrigin: Origin {
  /// The place where values receive their stamps.
  enum Stamping: Sendable {
    /// The server stamps the values. It is the server of this process.
    case byServer
    /// This origin stamps the responses, because the server does not know about stamps.
    case onArrival(OriginBehaviour)
  }

  private let base: URL
  private let session: URLSession
  private let urls: [URL]
  private let stamping: Stamping

  /// - Parameters:
  ///   - base: The address to which the names of keys are appended.
  ///   - keys: The names of keys.
  ///   - stamping: The stamps of values.
  ///   - connections: The highest number of connections.
  /// - Throws: An error if the client cannot be created.
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

  /// Requests one key, and throws if the server does not respond. Every response is sufficient, also a refusal.
  func requireAnswer() async throws {
    guard let url = urls.first else { return }
    do {
      _ = try await session.answer(to: URLRequest(url: url, timeoutInterval: HTTPOrigin.patience))
    } catch {
      throw CommandFailure("the origin \(base) does not answer: \(HTTPOrigin.reason(of: error))", status: .badInput)
    }
  }

  /// The maximum time for the first response in seconds.
  private static let patience = 10.0

  /// Returns the reason of a failed request as a sentence.
  static func reason(of error: any Error) -> String {
    guard let error = error as? URLError else { return "\(error)" }
    return switch error.code {
    case .cannotConnectToHost: "the connection was refused, or the host cannot be reached"
    case .cannotFindHost, .dnsLookupFailed: "the host is unknown"
    case .notConnectedToInternet: "the network is not available"
    case .networkConnectionLost: "the connection was lost"
    case .timedOut: "the request timed out"
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot:
      "a secure connection could not be established"
    default: error.localizedDescription
    }
  }

  /// Closes the connections.
  func finish() {
    session.invalidateAndCancel()
  }

  private static func url(of name: String, below base: URL) throws -> URL {
    let parts = name.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    // The characters of a path, without those that would end it, and without those that servers interpret in
    // different ways.
    let path = parts[0].addingPercentEncoding(
      withAllowedCharacters: .urlPathAllowed.subtracting(.init(charactersIn: "+;")))
    let text = (path ?? "") + (parts.count > 1 ? "?" + parts[1] : "")
    let root = base.absoluteString.hasSuffix("/") ? base.absoluteString : base.absoluteString + "/"
    guard let url = URL(string: root + text) else {
      throw CommandFailure("the key '\(name)' cannot be part of an address below \(base)", status: .badInput)
    }
    return url
  }
}
