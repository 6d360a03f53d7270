import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.net.InetSocketAddress;

/** Serves on the port that its argument names until its standard input ends, so that it cannot outlive its starter. */
public class Database {
  public static void main(String[] arguments) throws Exception {
    MongoServer server = new MongoServer(new MemoryBackend());
    server.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
    while (System.in.read() >= 0) {}
    server.shutdownNow();
  }
}
