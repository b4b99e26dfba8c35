package mdm.framework.shadows;

import android.app.SearchableInfo;
import java.util.Collections;
import java.util.List;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;

/** Stands for the search service of a phone on which no app offers a search. */
@Implements(className = "android.app.SearchManager")
public class SearchManagerShadow {
    @Implementation
    protected List<SearchableInfo> getSearchablesInGlobalSearch() {
        return Collections.emptyList();
    }
}
